/** How a command is made: its arguments checked, its client connected, its answer printed. */
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import * as consumers from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import type { Command } from 'commander';
import { z } from 'zod';
import { createCardStash } from '../cards/index.ts';
import { actorSchema, integrationNameSchema, orderIdSchema } from '../client/read-requests.ts';
import { createDataConverter } from '../codec/index.ts';
import { type Config, loadClientSettings, unreachableTemporal } from '../config/index.ts';
import { errorCode } from '../config/values.ts';
import type { Fault } from '../contract/errors.ts';
import { localEnvironment, localPayloadKeys } from '../process/local.ts';
import { OUR_WORDS } from '../screening/index.ts';
import {
  createOrderScreening,
  type OrderScreening,
  type OrderScreeningOptions,
  type PortalOptions,
} from '../starter.ts';
import { type ExitCode, UnreachableError, UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

/** What every command works with. */
export interface CommandTools {
  env: NodeJS.ProcessEnv;
  output: Output;
  /** Connects to Temporal and gives the way to the orders. */
  withOrders: <T>(use: (orders: OrderScreening) => Promise<T>) => Promise<T>;
}

/** An option, or a flag where the flags name no value. */
export interface Option<Schema extends z.ZodType = z.ZodType> {
  flags: string;
  about: string;
  schema: Schema;
  /** What the opposite means, for a flag that has one: `--no-open`. */
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

/** Every command about one order has it. */
export const INTEGRATION = option(
  '--integration <name>',
  'the integration; default unless given',
  integrationNameSchema,
);

/** Every command that changes an order has it. */
export const ACTOR = option(
  '--actor <name>',
  "who asks; the system's user unless given. It is kept with the order",
  actorSchema,
);

type Schemas = Readonly<Record<string, z.ZodType>>;
type Options = Readonly<Record<string, Option>>;
export type SchemasOf<Given extends Options> = { [Name in keyof Given]: Given[Name]['schema'] };

type None = Record<never, never>;

export interface CommandDefinition<Args extends Schemas = None, Given extends Options = None> {
  /** With its arguments: `show <orderId>`. */
  name: string;
  summary: string;
  /** Beside the summary, in `--help`. */
  more?: string | undefined;
  /** The schemas of the arguments, in the order of the name. */
  args?: Args;
  options?: Given;
  /** Command lines, without the program's name. */
  examples: readonly string[];
  run: (input: z.output<z.ZodObject<Args & SchemasOf<Given>>>) => Promise<ExitCode>;
}

/** Returns who asks, as claimed: Temporal is asked without an API key, so nothing proves it. */
export function actingAs(actor: string | undefined): Pick<PortalOptions, 'by'> {
  const name = actor ?? systemUser();
  return name === undefined ? {} : { by: { actor: name } };
}

function systemUser(): string | undefined {
  try {
    return actorSchema.safeParse(userInfo().username).data;
  } catch {
    // A container may run as a number that has no name.
    return undefined;
  }
}

/** Adds a command with its help. */
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
    // The schemas are those of the definition, which gives the type.
    process.exitCode = await run(read(command, fields) as Parameters<typeof run>[0]);
  });
}

/** An argument or an option: what people call it, `<orderId>` or `--due-date`, and the value that was given. */
interface Field {
  shown: string;
  schema: z.ZodType;
  value: () => unknown;
}

/** Checks all fields together, so that every error is listed at once. */
function read(command: Command, fields: ReadonlyMap<string, Field>): Record<string, unknown> {
  const schema = z.strictObject(Object.fromEntries([...fields].map(([name, one]) => [name, one.schema])));
  const given = [...fields]
    .map(([name, one]) => [name, one.value()])
    .filter(([, value]) => value !== undefined);
  const parsed = schema.safeParse(Object.fromEntries(given), OUR_WORDS);
  if (parsed.success) return parsed.data;
  throw usageError(
    command.name(),
    // Of several orders the first one with an error is named as any other.
    parsed.error.issues.map(({ path: [name], message }) => ({
      path: fields.get(String(name))?.shown ?? '',
      message,
    })),
  );
}

export function usageError(command: string, errors: Fault[]): UsageError {
  return new UsageError(`See order-screening ${command} --help`, errors);
}

const CONNECT_WITHIN = '5 seconds';

/**
 * Connects to Temporal. With no screening service configured the settings are those of `npm start` on this machine.
 * The connection isn't closed, it ends with the process: a call that is being retried when it is closed breaks the process.
 * @throws ConfigError for settings, UnreachableError when Temporal doesn't answer: nothing was sent then
 */
export async function withOrders<T>(
  env: NodeJS.ProcessEnv,
  use: (orders: OrderScreening) => Promise<T>,
): Promise<T> {
  const settings = loadClientSettings(localEnvironment(env).env);
  const { temporal, findIntegration, cardStash } = settings;
  const dataConverter = createDataConverter(await payloadKeysOf(settings), {
    required: settings.payloadsRequired,
  });
  const cards = sharedStash(cardStash);
  const connection = await connectOrFail(temporal);
  try {
    const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
    const orders = createOrderScreening({ client, findIntegration, cards });
    const result = await use(orders);
    await orders.close();
    return result;
  } finally {
    await cards.close();
  }
}

/** What says with which keys the orders are encrypted. */
export type KeySettings = 'payloadKeys' | 'temporal' | 'local';

/** @returns the keys. The embedded server's data is encrypted, also when nobody has set one */
export async function payloadKeysOf({
  payloadKeys,
  temporal,
  local,
}: Pick<Config, KeySettings>): Promise<Config['payloadKeys']> {
  return payloadKeys.length === 0 && temporal.embedded ? localPayloadKeys(local.dataDir) : payloadKeys;
}

/** @throws the SDK's error when the server doesn't answer, or refuses */
export function connectTemporal({ connection }: Config['temporal']): Promise<Connection> {
  return Connection.connect({ ...connection, connectTimeout: CONNECT_WITHIN });
}

/** @throws UnreachableError when the server doesn't answer: nothing was sent */
export function connectOrFail(temporal: Config['temporal']): Promise<Connection> {
  return connectTemporal(temporal).catch(() => {
    throw new UnreachableError(`nothing was sent: ${unreachableTemporal(temporal.connection)}`);
  });
}

/** The worker is another process, so a card in this one's memory would never reach it. */
function sharedStash({ url, keys }: Config['cardStash']): NonNullable<OrderScreeningOptions['cards']> {
  const stash = createCardStash(url, keys);
  if (url !== 'memory:') return stash;
  return {
    ...stash,
    put: async () => {
      throw new UsageError(
        'Full card data reaches the worker only through a Redis: set CARD_STASH_URL and CARD_STASH_KEYS as for the worker',
      );
    },
  };
}

// What the commands take, from the command line and as JSON. The limits are the API's.

/** Of a command that takes several, each once. */
export const orderIds = z.array(orderIdSchema).transform((ids) => [...new Set(ids)]);
/** The number of a portal action or of an event, on the order's record. */
export const numberOnRecord = wholeNumber(1, 999_999);

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z
    .string({ error: message })
    .regex(/^\d{1,6}$/, { error: message, abort: true })
    .transform(Number)
    .refine((number) => number >= least && number <= most, message);
}

/** Seconds, `90` or `0.5`, as milliseconds. */
export const seconds = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,3})?$/, { error: 'must be a number of seconds', abort: true })
  .transform((written) => Number(written) * 1_000)
  .refine((ms) => ms > 0, 'must be more than 0');

const jsonObject = z.record(z.string(), z.unknown());

/**
 * Reads one JSON object.
 * @param file its path; `-` or none is standard input
 * @throws UsageError, which shows nothing of the content
 */
export async function readJsonObject(file: string | undefined): Promise<Record<string, unknown>> {
  const fromStdin = file === undefined || file === '-';
  if (fromStdin && process.stdin.isTTY) {
    throw new UsageError('Name a file with the order as JSON, or send it to standard input');
  }
  const content = await readText(fromStdin ? '-' : file);
  const parsed = jsonObject.safeParse(parse(content));
  if (parsed.success) return parsed.data;
  throw new UsageError(`${fromStdin ? 'Standard input' : 'The file'} must be one JSON object in UTF-8`);
}

/**
 * Reads a file of text, without a mark at its beginning.
 * @param file its path; `-` is standard input
 * @throws UsageError, which shows nothing of the content
 */
export async function readText(file: string): Promise<string> {
  const bytes = await readBytes(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError('The input must be text in UTF-8');
  }
}

async function readBytes(file: string): Promise<Buffer> {
  if (file === '-') return consumers.buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    const code = errorCode(error);
    const why = code === undefined ? '' : ` (${String(code)})`;
    throw new UsageError('The input is missing', [{ path: '<file>', message: `can't be read${why}` }]);
  }
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    // The parser's own words would quote the content.
    return undefined;
  }
}
