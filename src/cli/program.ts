/** All commands. */
import { Command } from 'commander';
import { adoptCommand } from './adopt-command.ts';
import type { CommandTools } from './define-command.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { orderCommands, readCommands } from './order-commands.ts';
import { portalCommands } from './portal-commands.ts';
import { repairCommand } from './repair-command.ts';
import { watchCommand } from './watch-command.ts';

/** The commands that change nothing: one whose output nobody reads any more may end. */
export const LOOKING: ReadonlySet<string> = new Set([
  'show',
  'list',
  'days',
  'count',
  'transaction',
  'watch',
  'doctor',
]);

/**
 * @returns the program with all commands; each sets the exit code of the process
 * @throws from its `parseAsync`: what `exitCodeOf` knows, and CommanderError for wrong usage and for help
 */
export function createProgram(tools: CommandTools): Command {
  const program = new Command('order-screening')
    .description('Screens orders and steers them. It talks to Temporal, not to the HTTP API.')
    .option('--json', 'JSON, also on a terminal')
    .option('--table', 'words and tables, also where there is no terminal')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: tools.output.file, writeErr: () => undefined })
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', `\n${EXIT_CODES}\n\nMore: docs/cli.md`);
  orderCommands(program, tools);
  adoptCommand(program, tools);
  readCommands(program, tools);
  watchCommand(program, tools);
  portalCommands(program, tools);
  repairCommand(program, tools);
  doctorCommand(program, tools);
  return program;
}
