/** `order-screening`: the command line for ops and scripts. Every command is described in docs/cli.md. */
import { CommanderError } from 'commander';
import { withOrders } from './cli/define-command.ts';
import { EXIT, exitCodeOf, problemOf } from './cli/exit-codes.ts';
import { createOutput, isJsonWanted } from './cli/output.ts';
import { createProgram } from './cli/program.ts';

const args = process.argv.slice(2);
const { env, stdout } = process;
const output = createOutput(isJsonWanted(args, stdout.isTTY));
const program = createProgram({ env, output, withOrders: (use) => withOrders(env, use) });

// `order-screening list | head`: the reader has seen enough.
stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.unexpected),
);

try {
  if (args.length === 0) {
    program.outputHelp();
    process.exitCode = EXIT.usage;
  } else {
    await program.parseAsync(args, { from: 'user' });
  }
} catch (error) {
  // Help that was asked for is no fault.
  const helped = error instanceof CommanderError && error.exitCode === 0;
  if (!helped) output.problem(problemOf(error));
  process.exitCode = helped ? EXIT.ok : exitCodeOf(error);
}
// Connections may be open still; what was written is written first.
stdout.write('', () => process.exit());
