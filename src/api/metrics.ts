/** What the API logs and counts of each answer. */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { attemptSchema, orderIdSchema } from '../client/read-requests.ts';
import { METRICS, namedAs } from '../orders/metrics.ts';
import type { Log } from '../process/log.ts';

/** One answer of the API: its route is a pattern, never an address. */
export interface Answered {
  method: string;
  route: string;
  status: number;
  durationMs: number;
}

export interface HttpMetrics {
  observe(answered: Answered): void;
  /** Counts a webhook's hint by what became of it. */
  noteHint(integration: string, outcome: string): void;
  contentType: string;
  /** Everything about the process and its HTTP, in Prometheus's text format. */
  text(): Promise<string>;
}

/** Counts answers by route and status. */
export function createHttpMetrics(): HttpMetrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const durations = new Histogram({
    ...namedAs('order_screening_http_request_duration_seconds'),
    labelNames: ['method', 'route', 'status'],
    buckets: [...METRICS.order_screening_http_request_duration_seconds.bounds],
    registers: [register],
  });
  const hints = new Counter({
    ...namedAs('order_screening_hints_total'),
    labelNames: ['integration', 'outcome'],
    registers: [register],
  });
  return {
    noteHint: (integration, outcome) => hints.inc({ integration, outcome }),
    observe: ({ method, route, status, durationMs }) =>
      durations.observe({ method, route, status }, durationMs / 1_000),
    contentType: register.contentType,
    text: () => register.metrics(),
  };
}

/**
 * The log that Fastify writes to. Its own lines may quote addresses and the messages of errors, so that they pass as a
 * library's. Ours go to the log itself, never to `request.log`.
 */
export function frameworkLog(log: Log): FastifyBaseLogger {
  const line =
    (severity: 'debug' | 'info' | 'warn' | 'error') =>
    (first: unknown, words?: unknown): void => {
      const err = errorIn(first);
      // With an error the words are its message, mostly.
      if (err !== undefined) log.foreign(severity, { err }, '');
      else log.foreign(severity, {}, String(typeof first === 'string' ? first : words));
    };
  const logger: FastifyBaseLogger = {
    level: 'info',
    trace: line('debug'),
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    fatal: line('error'),
    silent: () => undefined,
    child: () => logger,
  };
  return logger;
}

function errorIn(first: unknown): unknown {
  if (first instanceof Error) return first;
  return typeof first === 'object' && first !== null && 'err' in first ? first.err : undefined;
}

// Every answer is logged and counted once, also one that no route gave.

const UNKNOWN = 'unknown';

export interface AnswerRecord {
  /** An answer that Fastify sent. */
  sent(request: FastifyRequest, reply: FastifyReply): void;
  /** An answer to what wasn't a request yet. */
  refused(status: number, code: string): void;
}

export function createAnswerRecord(log: Log, metrics: HttpMetrics): AnswerRecord {
  return {
    sent(request, reply) {
      const { method, routeOptions, params, body, keyName } = request;
      const answered = {
        method,
        route: routeOptions.url ?? UNKNOWN,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime),
      };
      metrics.observe({ ...answered, durationMs: reply.elapsedTime });
      log.info(
        {
          ...answered,
          orderId: orderIdIn(params),
          attempt: attemptIn(body),
          key: keyName,
          code: reply.problemCode,
        },
        'answered',
      );
    },
    refused(status, code) {
      const answered = { method: UNKNOWN, route: UNKNOWN, status, durationMs: 0 };
      metrics.observe(answered);
      log.info({ ...answered, code }, 'answered');
    },
  };
}

function orderIdIn(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null || !('orderId' in params)) return undefined;
  return orderIdSchema.safeParse(params.orderId).data;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The name of the API key that was sent. */
    keyName?: string;
  }
}

/** The attempt that a body names; the first one needs no name. */
function attemptIn(body: unknown): number | undefined {
  if (typeof body !== 'object' || body === null || !('attempt' in body)) return undefined;
  return attemptSchema.safeParse(body.attempt).data;
}
