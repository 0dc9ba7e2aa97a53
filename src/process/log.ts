/**
 * The log of every process. What may be logged is listed here, field by field; whatever isn't listed is left out. Addresses,
 * headers, bodies and the messages of errors never are: webhook secrets stand in paths, keys in the addresses of status
 * calls, personal data in bodies, and errors quote what they failed on.
 */
import type { ConnectionOptions } from '@temporalio/client';
import { type DestinationStream, pino } from 'pino';
import { withoutCardNumbers } from '../card-data/card-numbers.ts';
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
  /** The person who asks, as claimed. */
  actor?: string | undefined;
  /** Where a request comes from: an address. */
  peer?: string | undefined;
  /** Why somebody does something, in their own words. */
  because?: string | undefined;
  /** Of a portal action or an event, on the order's record. */
  number?: number | undefined;
  /** How many hints and rechecks could not be sent. */
  unsent?: number | undefined;
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
  /** What an order had under way, by its kind. */
  effect?: string | undefined;
  /** What an override decides. */
  action?: string | undefined;
  /** What is wrong with a setting, and where: our own words. */
  fault?: string | undefined;
  /** Why, in one slug. */
  reason?: string | undefined;
  /** Host and port: Temporal's, the screening service's, the receiver's. */
  address?: string | undefined;
  /** A call to Temporal or to the screening service, by the name of its operation. */
  call?: string | undefined;
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
  /** Who did what, a stream of its own: each line has `audit: true`, and is written at every level but `silent`. */
  audit(fields: LogFields): void;
  /**
   * A line of a library. Its words are logged only where they can't quote anything. The same again is counted, and said once
   * in ten seconds, with `repeats`.
   */
  foreign(severity: Severity, fields: LogFields, words: string): void;
}

const textUpTo = (most: number) => (value: unknown) =>
  typeof value === 'string' ? withoutCardNumbers(value).slice(0, most) : undefined;
const text = textUpTo(200);
const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** How each field is shown. */
const SHOWN: Record<keyof LogFields, (value: unknown) => unknown> = {
  method: text,
  route: text,
  status: number,
  durationMs: number,
  code: text,
  key: text,
  actor: text,
  peer: text,
  // As long as a person may make it.
  because: textUpTo(500),
  number,
  unsent: number,
  orderId: text,
  integration: text,
  workflowId: text,
  workflowType: text,
  activityType: text,
  attempt: number,
  tries: number,
  taskQueue: text,
  effect: text,
  action: text,
  fault: text,
  reason: text,
  address: text,
  call: text,
  namespace: text,
  deploymentName: text,
  buildId: text,
  err: (error) => (error === undefined ? undefined : showError(error)),
};

/** Letters and a little punctuation: no number, no address, nothing in quotes, nothing after a colon. */
const PLAIN_WORDS = /^[A-Za-z][A-Za-z ,;.'()-]{0,118}$/;
const LISTENING = /^Server listening at https?:\/\/[\w.:[\]-]+$/;
const LEFT_OUT = 'a line of a library; its words are left out';

/** @param destination instead of standard output */
export function createLog(name: string, level: LogLevel, destination?: DestinationStream): Log {
  const logger = destination === undefined ? pino({ name, level }) : pino({ name, level }, destination);
  const repeated = new Repeated();
  const write =
    (severity: Severity): Write =>
    (first: LogFields | string, words?: string) => {
      if (typeof first === 'string') logger[severity](first);
      else logger[severity](listed(first), words ?? LEFT_OUT);
    };
  const audit = logger.child({ audit: true }, { level: level === 'silent' ? 'silent' : 'info' });
  return {
    audit: (fields) => audit.info(listed(fields), 'audit'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    foreign(severity, fields, words) {
      const plain = PLAIN_WORDS.test(words) || LISTENING.test(words);
      const shown = listed(fields);
      const said = plain ? words : LEFT_OUT;
      const repeats = repeated.since(JSON.stringify({ severity, said, ...whatRepeats(shown) }));
      if (repeats === undefined) return;
      logger[severity]({ ...shown, ...(repeats > 0 && { repeats }) }, said);
    },
  };
}

/**
 * @returns what makes two lines the same. Lines that say why are the same for all orders; lines about an address that can't be reached
 * for all activities, too.
 */
function whatRepeats(shown: Record<string, unknown>): Record<string, unknown> {
  const { tries: _tries, ...ofAnOrder } = shown;
  if (!saysWhy(shown)) return ofAnOrder;
  const { orderId: _orderId, workflowId: _workflowId, attempt: _attempt, ...ofAnActivity } = ofAnOrder;
  if (shown.address === undefined) return ofAnActivity;
  const { workflowType: _type, activityType: _activity, taskQueue: _queue, ...ofAny } = ofAnActivity;
  return ofAny;
}

function saysWhy({ reason, err }: Record<string, unknown>): boolean {
  if (reason !== undefined) return true;
  return typeof err === 'object' && err !== null && ('reason' in err || 'why' in err || 'grpc' in err);
}

const SAID_ONCE_IN_MS = 10_000;
const MOST_REMEMBERED = 1_000;

/** Counts what is said again and again. */
class Repeated {
  readonly #said = new Map<string, { until: number; repeats: number }>();

  /** @returns how often it was said since it was said aloud; undefined: it isn't to be said again yet */
  since(line: string): number | undefined {
    const now = Date.now();
    const before = this.#said.get(line);
    if (before !== undefined && now < before.until) {
      before.repeats += 1;
      return undefined;
    }
    this.#said.delete(line);
    this.#said.set(line, { until: now + SAID_ONCE_IN_MS, repeats: 0 });
    const [oldest] = this.#said.keys();
    if (this.#said.size > MOST_REMEMBERED && oldest !== undefined) this.#said.delete(oldest);
    return before?.repeats ?? 0;
  }
}

function listed(fields: LogFields): Record<string, unknown> {
  const shown = Object.entries(SHOWN).map(([field, show]) => [field, show(fields[field as keyof LogFields])]);
  return Object.fromEntries(shown.filter(([, value]) => value !== undefined));
}

type CallInterceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** Of gRPC: nobody was there. */
const UNAVAILABLE = 14;
/** As the worker's log says it. */
export const TEMPORAL_UNREACHABLE = 'Temporal can not be reached, the call is tried again';

/** @returns `retry`, the interceptor that tries calls to Temporal again, which says in the log of each try that reached nobody why */
export function sayingWhyUnreachable(log: Log, retry: CallInterceptor): CallInterceptor {
  return (options, nextCall) =>
    retry(options, (ofTry) => {
      const call = nextCall(ofTry);
      const start = call.start.bind(call);
      call.start = (metadata, listener) =>
        start(metadata, {
          onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
          onReceiveMessage: (message) => listener?.onReceiveMessage?.(message),
          onReceiveStatus: (status) => {
            const call = options.method_definition.path.split('/').at(-1);
            const err = `${UNAVAILABLE} UNAVAILABLE: ${status.details}`;
            if (status.code === UNAVAILABLE) log.foreign('warn', { call, err }, TEMPORAL_UNREACHABLE);
            listener?.onReceiveStatus?.(status);
          },
        });
      return call;
    });
}

const SLUG = /^[\w-]{1,64}$/;
const FRAME = /^\s+at (?:[^()]{1,200} \()?(?:file:\/\/|node:|\/)[^()\s]{1,400}:\d+:\d+\)?$/;
const MOST_FRAMES = 10;
const MOST_CAUSES = 5;

/**
 * An error without its message, which may quote what it failed on: its kind, its code, the id of a key it lacked, why there was no
 * connection, and where it came from.
 */
export function showError(error: unknown, causesLeft = MOST_CAUSES): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, ...connectionFault(error) };
  const code = 'code' in error ? error.code : undefined;
  // A failure that one of our activities ended with: its type says why, and its frames only where we say so.
  if (error.name === 'ApplicationFailure' && 'type' in error && SLUG.test(String(error.type))) {
    return { type: error.name, reason: String(error.type) };
  }
  return {
    type: SLUG.test(error.name) ? error.name : 'Error',
    ...((typeof code === 'number' || (typeof code === 'string' && SLUG.test(code))) && { code }),
    ...('keyId' in error &&
      typeof error.keyId === 'string' &&
      SLUG.test(error.keyId) && { keyId: error.keyId }),
    ...connectionFault(error.message),
    frames: framesOf(error),
    ...(causesLeft > 0 && error.cause instanceof Error && { cause: showError(error.cause, causesLeft - 1) }),
  };
}

/** What gRPC calls a refusal, as its two libraries write it at the beginning. */
const GRPC = /^(?:\d{1,2} ([A-Z_]{2,20}): |Status \{ code: ([A-Za-z]{2,20}),)/;
/** Words of Node, of Rust, of TLS and of ours that name a cause, and nothing else. */
const WHY =
  /\b((?:Temporal|the worker) did not answer in time|E(?:CONNREFUSED|CONNRESET|CONNABORTED|TIMEDOUT|HOSTUNREACH|NETUNREACH|HOSTDOWN|PIPE|NOTFOUND|AI_AGAIN)|Connection(?:Refused|Reset|Aborted)|BrokenPipe|TimedOut|NotConnected|HostUnreachable|NetworkUnreachable|UnexpectedEof|dns error|UnknownIssuer|NotValidForName|BadSignature|Expired|NotValidYet|CertificateRequired|HandshakeFailure)\b/;
const IP = String.raw`\d{1,3}(?:\.\d{1,3}){3}|\[?[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}\]?`;
/** Where those libraries write whom they could not reach: after the name of the system's error, or before it. */
const PEER = new RegExp(
  String.raw`\bconnect E[A-Z]{4,20} ((?:${IP}):\d{1,5})\b|, ((?:${IP}):\d{1,5}), Os \{|\bgetaddrinfo E[A-Z_]{4,20} ([\w.-]{1,253})$`,
  'i',
);

/** How grpc-js says for what a call had waited when its time was up: for a connection. */
const NOT_CONNECTED =
  /^4 DEADLINE_EXCEEDED: Deadline exceeded after [^"']{0,200}\b(?:W|w)aiting for (?:LB pick|name resolution)\b/;

/** Why, where the words beside gRPC's status name no cause that is known here: a server that stops has many. */
const MEANT: Record<string, string> = { deadlineexceeded: 'no answer in time', unavailable: 'not available' };

/** @returns what an error's words say of a connection that failed: gRPC's status, why, and whom it should have reached */
function connectionFault(words: unknown): { grpc?: string; why?: string; address?: string } {
  if (typeof words !== 'string') return {};
  const begin = words.slice(0, 2_000);
  const [, ofNode, ofRust] = GRPC.exec(begin) ?? [];
  const grpc = ofNode ?? ofRust;
  const meant = MEANT[grpc?.replace('_', '').toLowerCase() ?? ''];
  const why = NOT_CONNECTED.test(begin) ? 'not connected' : (WHY.exec(begin)?.[1] ?? meant);
  const [, ...peers] = why === undefined ? [] : (PEER.exec(begin) ?? []);
  const address = peers.find((peer) => peer !== undefined);
  return {
    ...(grpc !== undefined && { grpc }),
    ...(why !== undefined && { why }),
    ...(address !== undefined && { address }),
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
