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
/** Writes synchronously to files: a stream doesn't report that the disk is full. */
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
  // `list | head` closed the pipe. Commands that change orders still run to their end.
  if (!changesOrders) end();
});
// A closed stderr must not stop a running command.
stderr.on('error', () => undefined);

try {
  await program.parseAsync(args, { from: 'user' });
} catch (error) {
  // Requested help is not an error.
  const helped = error instanceof CommanderError && error.exitCode === 0;
  const noCommand = error instanceof CommanderError && error.code === 'commander.help' && !helped;
  if (noCommand) program.outputHelp();
  else if (!helped) output.problem(problemOf(error));
  process.exitCode = helped ? EXIT.ok : exitCodeOf(error);
}
// Flushes stdout, and its errors, before the exit. Connections may still be open.
stdout.write('', () => setImmediate(end));
