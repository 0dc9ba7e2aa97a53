/** `order-screening`: the command line for ops and scripts. Every command is described in docs/cli.md. */
import { fstatSync, writeFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { withOrders } from './cli/connect.ts';
import { EXIT, exitCodeOf, problemOf } from './cli/exit-codes.ts';
import { createOutput, isJsonWanted } from './cli/output.ts';
import { createProgram, LOOKING } from './cli/program.ts';

const args = process.argv.slice(2);
const { env, stdout, stderr } = process;

const isFile = fstatSync(stdout.fd).isFile();
/** A stream writes to a file what fits on the disk, and says nothing of the rest. */
function write(text: string): void {
  if (!isFile) {
    stdout.write(text);
    return;
  }
  try {
    writeFileSync(stdout.fd, text);
  } catch (error) {
    stdout.emit('error', error);
  }
}

const output = createOutput(isJsonWanted(args, stdout.isTTY), write);
const program = createProgram({ env, output, withOrders: (use) => withOrders(env, use) });

let changesOrders = false;
program.hook('preAction', (_program, command) => {
  changesOrders = !LOOKING.has(command.name()) && command.getOptionValue('dryRun') !== true;
});

let hasNoRoom = false;
function end(): never {
  if (hasNoRoom) process.exitCode ||= EXIT.unexpected;
  process.exit();
}
stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE' && !hasNoRoom) {
    hasNoRoom = true;
    output.problem({ type: 'unexpected', detail: `The output can't be written (${code})` });
  }
  // `list | head`: the reader has seen enough. What changes orders is done whole all the same.
  if (!changesOrders) end();
});
// Who no longer reads it must not stop what is under way.
stderr.on('error', () => undefined);

try {
  if (args.length === 0) {
    program.outputHelp();
    process.exitCode = EXIT.usage;
  } else {
    await program.parseAsync(args, { from: 'user' });
  }
} catch (error) {
  // Help that was asked for is no error.
  const helped = error instanceof CommanderError && error.exitCode === 0;
  if (!helped) output.problem(problemOf(error));
  process.exitCode = helped ? EXIT.ok : exitCodeOf(error);
}
// Connections may be open still; what was written is written first, and what can't be is told by then.
stdout.write('', () => setImmediate(end));
