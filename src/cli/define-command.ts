import type { Command } from 'commander';
import type { z } from 'zod';
import { faultsOf } from '../client/read-requests.ts';
import type { OrderScreening } from '../starter.ts';
import { type ExitCode, UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

/** What every command works with. */
export interface CommandTools {
  env: NodeJS.ProcessEnv;
  output: Output;
  /** Connects to Temporal and gives the way to the orders. */
  withOrders: <T>(use: (orders: OrderScreening) => Promise<T>) => Promise<T>;
}

export interface CommandDefinition<Input> {
  /** With its arguments: `show <orderId>`. */
  name: string;
  summary: string;
  /** Beside the summary, in `--help`. */
  more?: string;
  /** Flags and what they mean. */
  options?: readonly (readonly [flags: string, description: string])[];
  /** Command lines, without the program's name. */
  examples: readonly string[];
  /** Arguments and options by name, as text: checked together, so that every fault is listed at once. */
  input: z.ZodType<Input>;
  run: (input: Input) => Promise<ExitCode>;
}

/** The option of every command that is about one order. */
export const INTEGRATION = ['--integration <name>', 'the integration; default unless given'] as const;

/** Adds a command with its help. */
export function defineCommand<Input>(program: Command, definition: CommandDefinition<Input>): void {
  const { name, summary, more, options = [], examples, input, run } = definition;
  const command = program
    .command(name)
    .summary(summary)
    .description(more === undefined ? summary : `${summary}\n\n${more}`)
    .addHelpText('after', ['\nExamples', ...examples.map((one) => `  order-screening ${one}`)].join('\n'));
  for (const [flags, description] of options) command.option(flags, description);
  command.action(async () => {
    process.exitCode = await run(read(command, input));
  });
}

function read<Input>(command: Command, schema: z.ZodType<Input>): Input {
  const names = command.registeredArguments.map((argument) => argument.name());
  const given = names.map((name, place) => [name, command.args[place]] as const);
  const args = given.filter(([, value]) => value !== undefined);
  const parsed = schema.safeParse(
    { ...command.opts(), ...Object.fromEntries(args) },
    { error: (issue) => (issue.input === undefined ? 'is required' : undefined) },
  );
  if (parsed.success) return parsed.data;
  const errors = faultsOf(parsed.error).map(({ path, message }) => ({ path: shown(path, names), message }));
  throw new UsageError(`See order-screening ${command.name()} --help`, errors);
}

/** @returns what a person calls it: `<orderId>`, or `--due-date` */
function shown(path: string, argumentNames: readonly string[]): string {
  if (argumentNames.includes(path)) return `<${path}>`;
  return `--${path.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
