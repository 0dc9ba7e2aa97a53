/** `order-screening`: the command line for ops and scripts. Every command is described in docs/cli.md. */
import { Command, CommanderError } from 'commander';
import type { CommandTools } from './cli/define-command.ts';
import { doctorCommand } from './cli/doctor/doctor-command.ts';
import { EXIT, EXIT_CODES, exitCodeOf, problemOf } from './cli/exit-codes.ts';
import { orderCommands } from './cli/order-commands.ts';
import { createOutput, isJsonWanted } from './cli/output.ts';
import { portalCommands } from './cli/portal-commands.ts';
import { readCommands } from './cli/read-commands.ts';
import { watchCommand } from './cli/watch-command.ts';
import { withOrders } from './cli/with-orders.ts';

const args = process.argv.slice(2);
const output = createOutput(isJsonWanted(args, process.stdout.isTTY));
const tools: CommandTools = {
  env: process.env,
  output,
  withOrders: (use) => withOrders(process.env, use),
};

const program = new Command('order-screening')
  .description('Screens orders and steers them. It talks to Temporal, not to the HTTP API.')
  .option('--json', 'JSON, also on a terminal')
  .option('--table', 'words and tables, also where there is no terminal')
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ writeErr: () => undefined })
  .showSuggestionAfterError()
  .exitOverride()
  .addHelpText('after', `\n${EXIT_CODES}\n\nMore: docs/cli.md`);

orderCommands(program, tools);
readCommands(program, tools);
watchCommand(program, tools);
portalCommands(program, tools);
doctorCommand(program, tools);

// `order-screening list | head`: the reader has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

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
