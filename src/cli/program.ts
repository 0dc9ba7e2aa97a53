import { Command } from 'commander';
import { adoptCommand } from './adopt-command.ts';
import type { CommandTools } from './define-command.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { orderCommands, readCommands } from './order-commands.ts';
import { portalCommands } from './portal-commands.ts';
import { repairCommand } from './repair-command.ts';

/** Commands that change nothing: they may end when their output is closed. */
export const LOOKING: ReadonlySet<string> = new Set(['show', 'list', 'count', 'transaction', 'doctor']);

/**
 * @returns the program with all commands; each sets the exit code of the process
 * @throws from its `parseAsync`: errors that `exitCodeOf` handles, and CommanderError for wrong usage and for help
 */
export function createProgram(tools: CommandTools): Command {
  const program = new Command('order-screening')
    .description('Screens and manages orders. It talks to Temporal, not to the HTTP API.')
    .option('--json', 'JSON, also on a terminal')
    .option('--table', 'text and tables, also without a terminal')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: tools.output.file, writeErr: () => undefined })
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', `\n${EXIT_CODES}\n\nMore: docs/cli.md`);
  orderCommands(program, tools);
  adoptCommand(program, tools);
  readCommands(program, tools);
  portalCommands(program, tools);
  repairCommand(program, tools);
  doctorCommand(program, tools);
  return program;
}
