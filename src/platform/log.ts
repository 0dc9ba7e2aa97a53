/**
 * The log of every process, with an allow-list of fields. URLs, headers, bodies and error messages never reach it: paths contain
 * webhook secrets, the URLs of status calls contain API keys, bodies contain personal data, and errors quote their input.
 */
import { writeSync } from 'node:fs';
import type { ConnectionOptions } from '@temporalio/client';
import { type DestinationStream, pino } from 'pino';
import { type Content, withoutCardNumbers } from '../card-data/card-numbers.ts';
import { grpcCode } from '../client/temporal-errors.ts';
import type { LogLevel } from '../config/index.ts';
import { showError } from './show-error.ts';

// Values are checked again at run time, since not all callers are compiled.
const textUpTo =
  (maxLength: number, content: Content = 'text') =>
  (value: string) =>
    typeof value === 'string' ? withoutCardNumbers(value, content).slice(0, maxLength) : undefined;
const text = textUpTo(200);
/** An id that a request may have is shown: as free text, one in ten of 13 digits would look like a card number. */
const id = textUpTo(200, 'id');
const number = (value: number) => (typeof value === 'number' ? value : undefined);

/** Every field of a log line, with the function that makes its value safe. */
const FIELDS = {
  method: text,
  route: text,
  status: number,
  durationMs: number,
  /** The slug of a problem or of another error. */
  code: text,
  /** The name of the caller's API key, never the key. */
  key: text,
  actor: text,
  peer: text,
  because: textUpTo(500),
  /** The number of a portal action or an event on the order's record. */
  number,
  /** The number of hints and rechecks that could not be sent. */
  unsent: number,
  orderId: id,
  transactionId: id,
  integration: text,
  workflowId: id,
  workflowIds: (ids: readonly string[]) => (Array.isArray(ids) ? ids.map(id) : undefined),
  workflowType: text,
  activityType: text,
  /** The order's attempt, from 1. */
  attempt: number,
  /** The attempt of an activity, a workflow task or a call, from 1. */
  tries: number,
  taskQueue: text,
  /** The kind of a pending effect of an order. */
  effect: text,
  action: text,
  /** The order has answered the same request before. */
  repeated: (value: boolean) => (value === true ? true : undefined),
  /** The error of a setting, and its path. */
  problem: text,
  /** Why, as a slug. */
  reason: text,
  /** Host and port of Temporal, the screening service, or the receiver of events. */
  address: text,
  /** The operation of Temporal or of the screening service. */
  call: text,
  namespace: text,
  deploymentName: text,
  buildId: text,
  /** How many equal lines were suppressed since the last one. */
  repeats: number,
  /** How many lines were lost before this one. */
  lost: number,
  err: (error: unknown) => (error === undefined ? undefined : showError(error)),
};

export type LogFields = {
  [Field in keyof typeof FIELDS]?: Parameters<(typeof FIELDS)[Field]>[0] | undefined;
};

// biome-ignore lint/complexity/noBannedTypes: a type without any property
type Nothing = {};

/** Accepts literals only: text that is built at run time could quote a secret. */
type FixedWords<Words extends string> = Words & (Nothing extends Record<Words, unknown> ? never : Words);

type Write = {
  <Words extends string>(words: FixedWords<Words>): void;
  <Words extends string>(fields: LogFields, words: FixedWords<Words>): void;
};

type Severity = 'debug' | 'info' | 'warn' | 'error';

export interface Log extends Record<Severity, Write> {
  /** Writes a line of the audit log. It has `audit: true` and is written at every level except `silent`. */
  audit(fields: LogFields): void;
  /**
   * Writes a line of a library, without its message if that could quote input. Equal lines are written once per ten
   * seconds, with `repeats`.
   */
  foreign(severity: Severity, fields: LogFields, words: string): void;
}

/** Letters and a little punctuation: no number, no URL, nothing in quotes, nothing after a colon. */
const PLAIN_WORDS = /^[A-Za-z][A-Za-z ,;.'()-]{0,118}$/;
const LISTENING = /^Server listening at https?:\/\/[\w.:[\]-]+$/;
const LEFT_OUT = 'a line of a library; its words are left out';

/** @param destination instead of standard output */
export function createLog(name: string, level: LogLevel, destination?: DestinationStream): Log {
  const options = { name, level, formatters: { log: allowed } };
  const logger = pino(
    options,
    destination ?? standardOutput((lost) => logger.error({ lost }, 'lines of the log could not be written')),
  );
  const suppressed = suppressRepeats();
  const write =
    (severity: Severity): Write =>
    (first: LogFields | string, words?: string) => {
      if (typeof first === 'string') logger[severity](first);
      // Without a message, pino would use the error's.
      else logger[severity](first, words ?? LEFT_OUT);
    };
  const audit = logger.child({ audit: true }, { level: level === 'silent' ? 'silent' : 'info' });
  return {
    audit: (fields) => audit.info(fields, 'audit'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    foreign(severity, fields, words) {
      const safe = PLAIN_WORDS.test(words) || LISTENING.test(words) ? words : LEFT_OUT;
      const repeats = suppressed(severity, allowed({ ...fields }), safe);
      if (repeats === undefined) return;
      logger[severity]({ ...fields, ...(repeats > 0 && { repeats }) }, safe);
    },
  };
}

/**
 * Standard output. If the disk is full or the pipe is closed, a line is lost and the process continues: with pino's own destination it
 * would end or hang, or never write again.
 *
 * @param tellLost called after the next line that is written
 */
function standardOutput(tellLost: (lost: number) => void): DestinationStream {
  let lost = 0;
  /** The last line was written in part. */
  let isTorn = false;
  return {
    write(line) {
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      let written = 0;
      try {
        while (written < bytes.length) written += writeWhenReady(bytes.subarray(written));
      } catch {
        isTorn ||= written > 0;
        lost += 1;
        return;
      }
      isTorn = false;
      if (lost === 0) return;
      const count = lost;
      lost = 0;
      tellLost(count);
    },
  };
}

/** Waits while a pipe is full. @returns how many bytes were written */
function writeWhenReady(bytes: Buffer): number {
  for (;;) {
    try {
      return writeSync(1, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function allowed(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(FIELDS).map(([field, show]) => [
      field,
      (show as (value: unknown) => unknown)(fields[field]),
    ]),
  );
}

const SUPPRESSED_FOR_MS = 10_000;
const MAX_REMEMBERED = 1_000;

/** Returns a function that counts equal lines. It returns how many were suppressed, and undefined for one to suppress. */
function suppressRepeats() {
  const seen = new Map<string, { until: number; repeats: number }>();
  return (severity: Severity, fields: Record<string, unknown>, words: string): number | undefined => {
    const line = JSON.stringify([severity, words, essentials(fields)]);
    const last = seen.get(line);
    if (last !== undefined && performance.now() < last.until) {
      last.repeats += 1;
      return undefined;
    }
    if (seen.size >= MAX_REMEMBERED) seen.clear();
    seen.set(line, { until: performance.now() + SUPPRESSED_FOR_MS, repeats: 0 });
    return last?.repeats ?? 0;
  };
}

const OF_ORDER = ['orderId', 'workflowId', 'attempt'];
const OF_ACTIVITY = ['workflowType', 'activityType', 'taskQueue'];

/** Lines with a reason count as equal for all orders; lines about an unreachable address, also for all activities. */
function essentials(fields: Record<string, unknown>): unknown {
  const err = (fields.err ?? {}) as Record<string, unknown>;
  const saysWhy = (fields.reason ?? err.reason ?? err.why ?? err.grpc) !== undefined;
  const ofAddress = saysWhy && fields.address !== undefined;
  const ignored = ['tries', ...(saysWhy ? OF_ORDER : []), ...(ofAddress ? OF_ACTIVITY : [])];
  return Object.entries(fields).filter(([field]) => !ignored.includes(field));
}

type CallInterceptor = NonNullable<ConnectionOptions['interceptors']>[number];

export const TEMPORAL_UNREACHABLE = 'Temporal can not be reached, the call is tried again';

/** An interceptor of calls to Temporal that logs why one was not answered. After a retry interceptor it logs each attempt. */
export function logUnreachable(log: Log): CallInterceptor {
  return (options, nextCall) => {
    const call = nextCall(options);
    const start = call.start.bind(call);
    call.start = (metadata, listener) =>
      start(metadata, {
        onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
        onReceiveMessage: (message) => listener?.onReceiveMessage?.(message),
        onReceiveStatus: (status) => {
          const call = options.method_definition.path.split('/').at(-1);
          const err = `${grpcCode.unavailable} UNAVAILABLE: ${status.details}`;
          if (status.code === grpcCode.unavailable) log.foreign('warn', { call, err }, TEMPORAL_UNREACHABLE);
          listener?.onReceiveStatus?.(status);
        },
      });
    // grpc-js calls only what the interface has.
    return call as ReturnType<CallInterceptor>;
  };
}
