/**
 * The log of every process. What may be logged is listed here, field by field; whatever isn't listed is left out. Addresses,
 * headers, bodies and the messages of errors never are: webhook secrets stand in paths, keys in the addresses of status
 * calls, personal data in bodies, and errors quote what they failed on.
 */
import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from '../config/index.ts';

/** Everything that a line may say beside its words. */
export interface LogFields {
  /** An HTTP request: its method, its route as a pattern, its answer. */
  method?: string | undefined;
  route?: string | undefined;
  status?: number | undefined;
  durationMs?: number | undefined;
  /** The slug of a problem or of another error. */
  code?: string | undefined;
  /** The name of the API key that was sent, never the key. */
  key?: string | undefined;
  orderId?: string | undefined;
  integration?: string | undefined;
  workflowId?: string | undefined;
  workflowType?: string | undefined;
  activityType?: string | undefined;
  /** Of the order, from 1. */
  attempt?: number | undefined;
  /** Of an activity or a workflow task, from 1. */
  tries?: number | undefined;
  taskQueue?: string | undefined;
  /** Which of the order's jobs, or which portal action. */
  job?: string | undefined;
  action?: string | undefined;
  /** Why, in one slug. */
  reason?: string | undefined;
  /** Temporal's host and port, and its namespace. */
  address?: string | undefined;
  namespace?: string | undefined;
  /** The version of a worker. */
  deploymentName?: string | undefined;
  buildId?: string | undefined;
  err?: unknown;
}

// biome-ignore lint/complexity/noBannedTypes: no property at all is what is asked
type Nothing = {};

/** Refuses words that are put together when the program runs: what they quote would be logged. */
type FixedWords<Words extends string> = Words & (Nothing extends Record<Words, unknown> ? never : Words);

type Write = {
  <Words extends string>(words: FixedWords<Words>): void;
  <Words extends string>(fields: LogFields, words: FixedWords<Words>): void;
};

type Severity = 'debug' | 'info' | 'warn' | 'error';

export interface Log extends Record<Severity, Write> {
  /** A line of a library. Its words are logged only where they can't quote anything. */
  foreign(severity: Severity, fields: LogFields, words: string): void;
}

const LONGEST_TEXT = 200;
const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, LONGEST_TEXT) : undefined);
const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** How each field is shown. */
const SHOWN: Record<keyof LogFields, (value: unknown) => unknown> = {
  method: text,
  route: text,
  status: number,
  durationMs: number,
  code: text,
  key: text,
  orderId: text,
  integration: text,
  workflowId: text,
  workflowType: text,
  activityType: text,
  attempt: number,
  tries: number,
  taskQueue: text,
  job: text,
  action: text,
  reason: text,
  address: text,
  namespace: text,
  deploymentName: text,
  buildId: text,
  err: (error) => (error === undefined ? undefined : showError(error)),
};

/** Letters and a little punctuation: no number, no address, nothing in quotes, nothing after a colon. */
const PLAIN_WORDS = /^[A-Za-z][A-Za-z ,.'()-]{0,118}$/;
const LISTENING = /^Server listening at https?:\/\/[\w.:[\]-]+$/;
const LEFT_OUT = 'a line of a library; its words are left out';

/** @param destination instead of standard output */
export function createLog(name: string, level: LogLevel, destination?: DestinationStream): Log {
  const logger = destination === undefined ? pino({ name, level }) : pino({ name, level }, destination);
  const write =
    (severity: Severity): Write =>
    (first: LogFields | string, words?: string) => {
      if (typeof first === 'string') logger[severity](first);
      else logger[severity](listed(first), words ?? LEFT_OUT);
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    foreign(severity, fields, words) {
      const plain = PLAIN_WORDS.test(words) || LISTENING.test(words);
      logger[severity](listed(fields), plain ? words : LEFT_OUT);
    },
  };
}

function listed(fields: LogFields): Record<string, unknown> {
  const shown = Object.entries(SHOWN).map(([field, show]) => [field, show(fields[field as keyof LogFields])]);
  return Object.fromEntries(shown.filter(([, value]) => value !== undefined));
}

const SLUG = /^[\w-]{1,64}$/;
const FRAME = /^\s+at (?:[^()]{1,200} \()?(?:file:\/\/|node:|\/)[^()\s]{1,400}:\d+:\d+\)?$/;
const MOST_FRAMES = 10;
const MOST_CAUSES = 5;

/** An error without its message, which may quote what it failed on: its kind, its code, the id of a key it lacked, and where it came from. */
export function showError(error: unknown, causesLeft = MOST_CAUSES): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = 'code' in error ? error.code : undefined;
  return {
    type: SLUG.test(error.name) ? error.name : 'Error',
    ...((typeof code === 'number' || (typeof code === 'string' && SLUG.test(code))) && { code }),
    ...('keyId' in error &&
      typeof error.keyId === 'string' &&
      SLUG.test(error.keyId) && { keyId: error.keyId }),
    frames: framesOf(error),
    ...(causesLeft > 0 && error.cause instanceof Error && { cause: showError(error.cause, causesLeft - 1) }),
  };
}

/** A message may have lines that look like frames. */
function framesOf({ stack = '', message }: Error): string[] {
  const after = stack.indexOf(message) + message.length;
  const lines = stack.slice(stack.includes(message) ? after : 0).split('\n');
  return lines
    .filter((line) => FRAME.test(line))
    .slice(0, MOST_FRAMES)
    .map((line) => line.trim());
}
