/** Every answer is logged and counted once, also one that no route gave. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { attemptSchema, orderIdSchema } from '../client/read-requests.ts';
import type { Log } from '../log.ts';
import type { HttpMetrics } from './metrics.ts';

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
