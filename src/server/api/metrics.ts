/** Logs and metrics of the API's answers. */
import { isIP } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { z } from 'zod';
import {
  fieldErrorsOf,
  integrationNameSchema,
  invalidRequest,
  orderIdSchema,
} from '../../client/read-requests.ts';
import type { ApiKeys, Scope } from '../../config/index.ts';
import { actorSchema, attemptSchema, reasonSchema } from '../../contract/fields.ts';
import { DEFAULT_INTEGRATION } from '../../contract/ids.ts';
import { isRecord } from '../../contract/values.ts';
import { HIGHEST_NUMBER, OVERRIDE_ACTIONS } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { METRICS, namedAs } from '../../order/view/metrics.ts';
import type { Log } from '../../platform/log.ts';
import type { PortalOptions } from '../../starter.ts';
import { CALLBACK } from './oidc.ts';

/** The callers choose the names of fields: further ones are counted together. */
const MOST_FIELDS = 500;
const OTHER = 'other';

/** Counts answers by route and status, and reports whether the file of API keys is invalid. */
export function createHttpMetrics(apiKeys: ApiKeys) {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const counter = <Label extends string>(name: keyof typeof METRICS, ...labelNames: Label[]) =>
    new Counter({ ...namedAs(name), labelNames, registers: [register] });
  const hints = counter('order_screening_hints_total', 'integration', 'outcome');
  const warnings = counter('order_screening_transaction_warnings_total', 'integration');
  const refused = counter('order_screening_refused_checkouts_total', 'integration', 'field');
  const durations = new Histogram({
    ...namedAs('order_screening_http_request_duration_seconds'),
    labelNames: ['method', 'route', 'status'],
    buckets: [...METRICS.order_screening_http_request_duration_seconds.bounds],
    registers: [register],
  });
  const fields = new Set<string>();
  new Gauge({
    ...namedAs('order_screening_api_keys_refused'),
    registers: [register],
    collect() {
      this.set(apiKeys.refused ? 1 : 0);
    },
  });
  return {
    noteHint: (integration: string, outcome: string) => hints.inc({ integration, outcome }),
    noteWarnings: (integration: string, count: number) => warnings.inc({ integration }, count),
    noteRefused(integration: string, names: readonly string[]) {
      for (const field of names) {
        const label = `${integration} ${field}`;
        if (fields.size < MOST_FIELDS) fields.add(label);
        const labels = fields.has(label) ? { integration, field } : { integration: OTHER, field: OTHER };
        refused.inc(labels);
      }
    },
    /** @param route the pattern, never the URL */
    observe: (method: string, route: string, status: number, durationMs: number) =>
      durations.observe({ method, route, status }, durationMs / 1_000),
    contentType: register.contentType,
    text: () => register.metrics(),
  };
}
export type HttpMetrics = ReturnType<typeof createHttpMetrics>;

/**
 * The logger for Fastify. Its lines may quote URLs and error messages, so they are logged as a library's. Our own code uses
 * `log`, never `request.log`.
 */
export function frameworkLog(log: Log): FastifyBaseLogger {
  const line =
    (severity: 'debug' | 'info' | 'warn' | 'error') =>
    (first: unknown, words?: unknown): void => {
      const err = errorIn(first);
      // With an error, the text is usually its message.
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

// Every answer is logged and counted once, including answers without a route.

const UNKNOWN = 'unknown';

/** @param integrations all that are configured. Absent: the audit log names any */
export function createAnswerRecord(log: Log, metrics: HttpMetrics, integrations?: readonly string[]) {
  return {
    sent(request: FastifyRequest, reply: FastifyReply): void {
      const { method, routeOptions, params, body, apiKey } = request;
      const { statusCode: status, elapsedTime, problemCode: code } = reply;
      const { url: route = UNKNOWN } = routeOptions;
      metrics.observe(method, route, status, elapsedTime);
      const { orderId } = askedSchema.parse(record(params));
      const { attempt } = askedSchema.parse(record(body));
      const durationMs = Math.round(elapsedTime);
      log.info({ method, route, status, durationMs, orderId, attempt, key: apiKey?.name, code }, 'answered');
      audit(log, request, reply, integrations);
    },
    /** An answer to input that wasn't a complete request. */
    refused(status: number, code: string): void {
      metrics.observe(UNKNOWN, UNKNOWN, status, 0);
      log.info({ method: UNKNOWN, route: UNKNOWN, status, durationMs: 0, code }, 'answered');
    },
  };
}

// The audit log.

/** The scopes whose requests are audited. Checkouts and reads aren't. */
const AUDITED: readonly (Scope | undefined)[] = ['act', 'ops', 'codec'];
/** Other requests that are audited: a card is put away, a list is taken out, a person signs in. */
const AUDITED_ROUTES: readonly (string | undefined)[] = ['/v1/card-refs', '/queue.csv', CALLBACK];
const REFUSED_CALLERS = [401, 403];

/** Audits a request, also a rejected one, and every request whose caller was refused. Fields that are missing or invalid are left out. */
function audit(
  log: Log,
  request: FastifyRequest,
  { statusCode: status, problemCode: code, repeated }: FastifyReply,
  integrations?: readonly string[],
): void {
  const { method, routeOptions, params, query, body, apiKey, ip, workflowIds } = request;
  const { url: route, config } = routeOptions;
  const isPage = request.pageUser !== undefined && method === 'GET';
  const isAudited = (AUDITED.includes(config.scope) && !isPage) || AUDITED_ROUTES.includes(route);
  if (!isAudited && !REFUSED_CALLERS.includes(status)) return;
  const isOfOne = config.scope !== 'codec' && !config.ofMany && workflowIds === undefined;
  const asked = askedSchema.parse({ ...record(query), ...record(body), ...record(params) });
  const { integration = isOfOne ? DEFAULT_INTEGRATION : undefined, orderId, action, reason: because } = asked;
  // In a webhook's address the secret may be where the integration belongs.
  const isUnknown = integration !== undefined && integrations?.includes(integration) === false;
  log.audit({
    ...{ method, route, status, code, repeated, workflowIds, action, orderId, because },
    ...{ key: apiKey?.name, actor: claimedActor(request).data, peer: isIP(ip) === 0 ? undefined : ip },
    integration: isUnknown ? undefined : integration,
    number: asked.number ?? asked.sequence,
    transactionId: asked.transactionId ?? asked.idOrInvoice,
  });
}

/** Marks answers to repeated requests for the audit log. */
export function noteRepeats(scope: FastifyInstance): void {
  scope.addHook('preSerialization', async (_request, reply, answer) => {
    if (isRecord(answer) && answer.repeated === true) reply.repeated = true;
    return answer;
  });
}

/** Invalid values aren't logged, since they may contain anything. */
const logged = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);
const numberOnRecord = logged(z.coerce.number().int().max(HIGHEST_NUMBER));
const askedSchema = z.object({
  orderId: logged(orderIdSchema),
  /** It may be omitted for the first attempt. */
  attempt: logged(attemptSchema),
  integration: logged(integrationNameSchema),
  number: numberOnRecord,
  sequence: numberOnRecord,
  action: logged(z.enum(OVERRIDE_ACTIONS)),
  reason: logged(reasonSchema),
  transactionId: logged(z.guid()),
  idOrInvoice: logged(orderIdSchema),
});

function record(part: unknown): object {
  return isRecord(part) ? part : {};
}

/** Text that isn't printable ASCII is percent-encoded, like ids in the headers of events. */
const actorHeader = z
  .string({ error: 'must be given once' })
  .regex(/^[\x20-\x7e]*$/, 'must be percent-encoded where it is not printable ASCII')
  .transform((sent, context) => {
    try {
      return decodeURIComponent(sent);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be percent-encoded: % and two hex digits' });
      return z.NEVER;
    }
  })
  .pipe(actorSchema);

function claimedActor({ headers, pageUser }: FastifyRequest) {
  if (pageUser !== undefined) return actorSchema.optional().safeParse(pageUser || undefined);
  return actorHeader.optional().safeParse(headers['x-actor']);
}

/**
 * @returns the sender: the name of the verified key, and the person as claimed by `X-Actor` or the pages' user name
 * @throws OrderScreeningError `invalid-request` for an invalid name
 */
export function whoAsks(request: FastifyRequest): Pick<PortalOptions, 'by'> {
  const actor = claimedActor(request);
  if (!actor.success) {
    const path = request.pageUser === undefined ? 'X-Actor' : 'user name';
    throw invalidRequest(fieldErrorsOf(actor.error).map(({ message }) => ({ path, message })));
  }
  const by = defined({ key: request.apiKey?.name, actor: actor.data });
  return Object.keys(by).length > 0 ? { by } : {};
}

declare module 'fastify' {
  interface FastifyReply {
    /** The order has answered the same request before. */
    repeated?: true;
  }
  interface FastifyRequest {
    /** The user name from the browser; empty if it sent none. Absent for the API. */
    pageUser?: string;
    /** The workflows of a request about several, for the audit log. */
    workflowIds?: readonly string[];
  }
}
