/** Defines commands: their arguments and options, and the checks of both. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { z } from 'zod';
import { integrationNameSchema } from '../client/read-requests.ts';
import { actorSchema } from '../contract/fields.ts';
import { OUR_WORDS } from '../screening-service/index.ts';
import type { OrderScreening, PortalOptions } from '../starter.ts';
import { EXIT, type ExitCode, UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

export interface CommandTools {
  env: NodeJS.ProcessEnv;
  output: Output;
  withOrders: <T>(use: (orders: OrderScreening) => Promise<T>) => Promise<T>;
}

// An option is the schema of its field, with its description. The name of the field is the flag's.

/** @param value the name of the value in `--help` */
export const required = <Schema extends z.ZodType>(schema: Schema, value: string, description: string) =>
  schema.meta({ description, value });
export const option = <Schema extends z.ZodType>(schema: Schema, value: string, description: string) =>
  schema.exactOptional().meta({ description, value });
/** @param opposite describes `--no-<flag>`; absent: there is none */
export const flag = (description: string, opposite?: string) =>
  z.boolean().exactOptional().meta({ description, opposite });

export const INTEGRATION = option(integrationNameSchema, 'name', 'the integration; defaults to `default`');
export const ACTOR = option(
  actorSchema,
  'name',
  "the actor, recorded with the order; defaults to the system's user",
);

/** Returns the flag of a request field: `--due-date` for `due_date` and `dueDate`. */
export const flagOf = (field: string) =>
  `--${field
    .replace(/[A-Z]/g, (letter) => `-${letter}`)
    .replaceAll('_', '-')
    .toLowerCase()}`;

type Fields = Readonly<Record<string, z.ZodType>>;
type None = Record<never, never>;

interface CommandDefinition<Args extends Fields, Options extends Fields> {
  /** The name with its arguments: `show <orderId>`. */
  name: string;
  summary: string;
  more?: string | undefined;
  args?: Args;
  options?: Options;
  examples: readonly string[];
  /** @returns the exit code; nothing: done */
  run: (input: z.output<z.ZodObject<Args & Options>>) => Promise<ExitCode | undefined>;
}

/** Returns the actor, as claimed: commands use no API key, so nothing proves it. */
export function actingAs(actor: string | undefined): Pick<PortalOptions, 'by'> {
  const name = actor ?? systemUser();
  return name === undefined ? {} : { by: { actor: name } };
}

function systemUser(): string | undefined {
  try {
    return actorSchema.safeParse(userInfo().username).data;
  } catch {
    // A container may run as a user id without a name.
    return undefined;
  }
}

export function defineCommand<Args extends Fields = None, Options extends Fields = None>(
  program: Command,
  { name, summary, more, args, options, examples, run }: CommandDefinition<Args, Options>,
): void {
  const command = program
    .command(name)
    .summary(summary)
    .description(more === undefined ? summary : `${summary}\n\n${more}`)
    .addHelpText('after', ['\nExamples', ...examples.map((one) => `  order-screening ${one}`)].join('\n'));
  const fields: Field[] = Object.entries(args ?? {}).map(([field, schema], place) => {
    const argument = command.registeredArguments[place];
    return { field, shown: `<${argument?.name()}>`, schema, value: () => command.processedArgs[place] };
  });
  for (const [field, schema] of Object.entries(options ?? {})) fields.push(addOption(command, field, schema));
  command.action(async () => {
    // `fields` has the definition's schemas, so the type matches.
    process.exitCode = (await run(read(command, fields) as Parameters<typeof run>[0])) ?? EXIT.ok;
  });
}

/** An argument or an option, with its shown name, `<orderId>` or `--due-date`, and its value. */
interface Field {
  field: string;
  shown: string;
  schema: z.ZodType;
  value: () => unknown;
}

/** Adds an option, or a flag for a boolean or the word `true`. */
function addOption(command: Command, field: string, schema: z.ZodType): Field {
  const { description = '', value = 'value', opposite } = schema.meta() ?? {};
  const optional = schema instanceof z.ZodExactOptional ? schema.unwrap() : undefined;
  const isWord = optional instanceof z.ZodEnum && optional.options.includes('false');
  const isFlag = isWord || optional instanceof z.ZodBoolean;
  const about = description.charAt(0).toLowerCase() + description.slice(1);
  const shown = flagOf(field);
  const made = command.createOption(
    isFlag ? shown : `${shown} <${value}>`,
    optional ? about : `${about} (required)`,
  );
  command.addOption(made);
  if (opposite !== undefined) command.option(`--no-${made.name()}`, `${opposite}`);
  const given = () => command.opts()[made.attributeName()];
  return { field, shown, schema, value: isWord ? () => given() && 'true' : given };
}

/** Checks all fields together, to list all errors at once. */
function read(command: Command, fields: readonly Field[]): Record<string, unknown> {
  const schema = z.strictObject(Object.fromEntries(fields.map((one) => [one.field, one.schema])));
  const given = fields.map((one) => [one.field, one.value()]).filter(([, value]) => value !== undefined);
  const parsed = schema.safeParse(Object.fromEntries(given), OUR_WORDS);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `See order-screening ${command.name()} --help`,
    // An error in a list of orders names the argument, not its index.
    parsed.error.issues.map(({ path: [name], message }) => ({
      path: fields.find(({ field }) => field === name)?.shown ?? '',
      message,
    })),
  );
}
