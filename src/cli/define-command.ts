/** Defines commands: their arguments and options, and the checks of both. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { z } from 'zod';
import { actorSchema } from '../client/messages/portal-options.ts';
import { integrationNameSchema } from '../client/read-requests.ts';
import { OUR_WORDS } from '../screening-service/index.ts';
import type { OrderScreening, PortalOptions } from '../starter.ts';
import { EXIT, type ExitCode, UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

export interface CommandTools {
  env: NodeJS.ProcessEnv;
  output: Output;
  withOrders: <T>(use: (orders: OrderScreening) => Promise<T>) => Promise<T>;
}

/** An option, or a flag if `flags` names no value. */
export interface Option<Schema extends z.ZodType = z.ZodType> {
  flags: string;
  about: string;
  schema: Schema;
  opposite?: string;
}

export const required = <Schema extends z.ZodType>(flags: string, about: string, schema: Schema) => ({
  flags,
  about: `${about} (required)`,
  schema,
});
export const option = <Schema extends z.ZodType>(flags: string, about: string, schema: Schema) => ({
  flags,
  about,
  schema: schema.exactOptional(),
});
export const flag = (flags: string, about: string) => option(flags, about, z.literal(true));
export const flagPair = (flags: string, about: string, opposite: string) => ({
  ...option(flags, about, z.boolean()),
  opposite,
});

/** Returns the flag of a request field: `--due-date` for `due_date` and `dueDate`. */
export const flagOf = (field: string) =>
  `--${field
    .replace(/[A-Z]/g, (letter) => `-${letter}`)
    .replaceAll('_', '-')
    .toLowerCase()}`;

/** Returns an option for each field of a request, from its schema and description. */
export function optionsOf<Fields extends Schemas>(fields: Fields) {
  const options = Object.entries(fields).map(([name, schema]) => {
    const { description = '' } = schema.meta() ?? {};
    const about = description.charAt(0).toLowerCase() + description.slice(1);
    const isRequired = !(schema instanceof z.ZodExactOptional);
    const set = isRequired ? undefined : flagValue(schema.unwrap());
    if (set !== undefined) return [name, option(flagOf(name), about, set)];
    return [name, (isRequired ? required : option)(`${flagOf(name)} <value>`, about, schema)];
  });
  return Object.fromEntries(options) as { [Name in keyof Fields]: Option<Fields[Name]> };
}

/** Returns the schema of a flag that sets a boolean, or the word `true`; undefined for a field with other values. */
function flagValue(schema: unknown): z.ZodType | undefined {
  if (schema instanceof z.ZodBoolean) return z.literal(true);
  const isWord = schema instanceof z.ZodEnum && schema.options.includes('false');
  return isWord ? z.literal(true).transform(() => 'true') : undefined;
}

export const INTEGRATION = option(
  '--integration <name>',
  'the integration; defaults to `default`',
  integrationNameSchema,
);

export const ACTOR = option(
  '--actor <name>',
  "the actor, recorded with the order; defaults to the system's user",
  actorSchema,
);

type Schemas = Readonly<Record<string, z.ZodType>>;
type Options = Readonly<Record<string, Option>>;
export type SchemasOf<Given extends Options> = { [Name in keyof Given]: Given[Name]['schema'] };

type None = Record<never, never>;

export interface CommandDefinition<Args extends Schemas = None, Given extends Options = None> {
  /** The name with its arguments: `show <orderId>`. */
  name: string;
  summary: string;
  more?: string | undefined;
  args?: Args;
  options?: Given;
  examples: readonly string[];
  /** @returns the exit code; nothing: done */
  run: (input: z.output<z.ZodObject<Args & SchemasOf<Given>>>) => Promise<ExitCode | undefined>;
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

export function defineCommand<Args extends Schemas = None, Given extends Options = None>(
  program: Command,
  { name, summary, more, args, options, examples, run }: CommandDefinition<Args, Given>,
): void {
  const command = program
    .command(name)
    .summary(summary)
    .description(more === undefined ? summary : `${summary}\n\n${more}`)
    .addHelpText('after', ['\nExamples', ...examples.map((one) => `  order-screening ${one}`)].join('\n'));
  const fields = new Map<string, Field>();
  for (const [place, [field, schema]] of Object.entries(args ?? {}).entries()) {
    const argument = command.registeredArguments[place];
    fields.set(field, { shown: `<${argument?.name()}>`, schema, value: () => command.processedArgs[place] });
  }
  for (const [field, { flags, about, schema, opposite }] of Object.entries(options ?? {})) {
    const made = command.createOption(flags, about);
    command.addOption(made);
    if (opposite !== undefined) command.option(`--no-${made.name()}`, opposite);
    fields.set(field, { shown: `${made.long}`, schema, value: () => command.opts()[made.attributeName()] });
  }
  command.action(async () => {
    // `fields` has the definition's schemas, so the type matches.
    process.exitCode = (await run(read(command, fields) as Parameters<typeof run>[0])) ?? EXIT.ok;
  });
}

/** An argument or an option, with its shown name, `<orderId>` or `--due-date`, and its value. */
interface Field {
  shown: string;
  schema: z.ZodType;
  value: () => unknown;
}

/** Checks all fields together, to list all errors at once. */
function read(command: Command, fields: ReadonlyMap<string, Field>): Record<string, unknown> {
  const schema = z.strictObject(Object.fromEntries([...fields].map(([name, one]) => [name, one.schema])));
  const given = [...fields]
    .map(([name, one]) => [name, one.value()])
    .filter(([, value]) => value !== undefined);
  const parsed = schema.safeParse(Object.fromEntries(given), OUR_WORDS);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `See order-screening ${command.name()} --help`,
    // An error in a list of orders names the argument, not its index.
    parsed.error.issues.map(({ path: [name], message }) => ({
      path: fields.get(String(name))?.shown ?? '',
      message,
    })),
  );
}
