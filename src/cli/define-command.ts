/** How a command is made: its arguments checked, its client connected, its answer printed. */
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import * as consumers from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import type { Command } from 'commander';
import { z } from 'zod';
import { createCardStash } from '../cards/index.ts';
import {
  actorSchema,
  faultsOf,
  HIGHEST_ATTEMPT,
  idempotencyKeySchema,
  integrationNameSchema,
  orderIdSchema,
} from '../client/read-requests.ts';
import { createDataConverter } from '../codec/index.ts';
import { type Config, loadClientSettings, unreachableTemporal } from '../config/index.ts';
import { errorCode } from '../config/values.ts';
import { reasonSchema } from '../contract/fields.ts';
import { ACTIONS, ORDER_DECISIONS, OVERRIDE_ACTIONS, PHASES } from '../contract/words.ts';
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

/** The option of every command that changes an order. */
export const ACTOR = [
  '--actor <name>',
  "who asks; the system's user unless given. It is kept with the order",
] as const;

/** @returns who asks, as claimed: nobody proves it here, since Temporal is asked without an API key */
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
  const given: [string, unknown][] = names.map((name, place) => [name, command.processedArgs[place]]);
  const args = given.filter(([, value]) => value !== undefined);
  const parsed = schema.safeParse({ ...command.opts(), ...Object.fromEntries(args) }, OUR_WORDS);
  if (parsed.success) return parsed.data;
  const errors = faultsOf(parsed.error).map(({ path, message }) => ({ path: shown(path, names), message }));
  throw new UsageError(`See order-screening ${command.name()} --help`, errors);
}

/** @returns what a person calls it: `<orderId>`, of several as of one, or `--due-date` */
function shown(path: string, argumentNames: readonly string[]): string {
  const [name = path] = path.split('[');
  if (argumentNames.includes(name)) return `<${name}>`;
  return `--${path.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
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
  const connection = await connectTemporal(temporal).catch(() => {
    throw new UnreachableError(`nothing was sent: ${unreachableTemporal(temporal.connection)}`);
  });
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

export const orderId = orderIdSchema;
/** Of a command that takes several, each once. */
export const orderIds = z.array(orderIdSchema).transform((ids) => [...new Set(ids)]);
export const integration = integrationNameSchema.exactOptional();
export const transactionId = z.guid('must be the id of a transaction').exactOptional();
export const reason = reasonSchema;
export const actor = actorSchema.exactOptional();
export const idempotencyKey = idempotencyKeySchema.exactOptional();
/** The number of a portal action on the order's record. */
export const actionNumber = wholeNumber(1, 999_999);
/** The number of an event of the order. */
export const eventSequence = wholeNumber(1, 999_999);
export const attempt = wholeNumber(1, HIGHEST_ATTEMPT);

export const phase = oneOf(PHASES);
export const decision = oneOf(ORDER_DECISIONS);
export const action = oneOf(ACTIONS);
export const overrideAction = oneOf(OVERRIDE_ACTIONS);

/** Not empty, and at most so many characters. */
export function text(max: number) {
  return z.string().min(1, 'must not be empty').max(max, `must have at most ${max} characters`);
}

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
export function seconds() {
  return z
    .string()
    .regex(/^\d{1,6}(\.\d{1,3})?$/, { error: 'must be a number of seconds', abort: true })
    .transform((written) => Number(written) * 1_000)
    .refine((ms) => ms > 0, 'must be more than 0');
}

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
