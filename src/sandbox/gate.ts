/** Request handling of the sandbox: routes, API keys and fault injection. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Fault, FaultPlan } from './fault-plan.ts';
import {
  type Answer,
  type LedgerEntry,
  type Mode,
  PORTAL_OPERATIONS,
  type PortalOperation,
  type ScreeningOperation,
  type Subject,
} from './model.ts';
import type { PortalService } from './portal-service.ts';
import { notAuthorized, refuse, type ScreeningService } from './screening-service.ts';
import { asObject, inDefinitionSpelling } from './spelling.ts';
import type { Ledger } from './state.ts';

export interface Call {
  readonly operation: ScreeningOperation | PortalOperation;
  readonly base: LedgerEntry['base'];
  readonly subject: Subject;
  /** Validates, commits and answers in one synchronous step. */
  readonly answer: () => Answer;
}

export type Gate = ReturnType<typeof createGate>;

/**
 * Handles every request: records it in the ledger, injects the planned fault, and answers. The state and the ledger entry
 * change in the same synchronous step, so they agree even if the connection breaks.
 */
export function createGate(ledger: Ledger, faults: FaultPlan, onChange: () => void) {
  const closing = new AbortController();
  // Each active delay adds a listener, and a chaos run has many.
  setMaxListeners(0, closing.signal);

  return {
    async pass(call: Call, reply: FastifyReply): Promise<FastifyReply> {
      const entry = ledger.open(call.operation, call.base, call.subject);
      entry.callerPort = reply.request.socket.remotePort ?? null;
      const fault = faults.pick(call.operation, call.subject);
      if (fault) {
        entry.fault = fault.kind;
        const { signal } = closing;
        const isOpen = !fault.delayMs || (await sleep(fault.delayMs, true, { signal }).catch(() => false));
        if (!isOpen) return reply.hijack();
        const instead = answerBeforeCommit(fault);
        if (instead) return send(reply, entry, instead, fault);
        if (fault.kind === 'reset-before-commit') return reset(reply);
        if (fault.kind === 'hang-before-commit') return reply.hijack();
      }
      const answer = call.answer();
      settle(entry, answer);
      if (answer.committed) onChange();
      return fault ? playAfterCommit(reply, entry, answer, fault) : send(reply, entry, answer);
    },
    /** Aborts active delays. Their requests are neither committed nor answered. */
    close: () => closing.abort(),
  };
}

function settle(entry: LedgerEntry, answer: Answer): void {
  entry.committed = answer.committed;
  entry.transactionId = answer.transaction?.id ?? entry.transactionId;
  entry.invoiceNumber = answer.transaction?.invoiceNumber ?? entry.invoiceNumber;
  entry.outcome.decision = answer.transaction?.decision ?? null;
}

function send(reply: FastifyReply, entry: LedgerEntry, answer: Answer, fault?: Fault): FastifyReply {
  entry.outcome.status = answer.status;
  const { code } = answer.body;
  if (typeof code === 'number' || typeof code === 'string') entry.outcome.code = code;
  if (fault?.kind === '429') reply.header('retry-after', String(fault.retryAfter ?? 1));
  return reply.code(answer.status).send(answer.body);
}

function answerBeforeCommit(fault: Fault): Answer | undefined {
  switch (fault.kind) {
    case '5xx-before-commit':
      return refuse(fault.status ?? 503, 'Service Unavailable');
    case '429':
      return refuse(429, 'Too Many Requests');
    case '403':
      return notAuthorized();
    case 'refused-in-body':
      return { status: 200, body: { code: fault.status ?? 403, message: 'Refused' }, committed: false };
    default:
      return undefined;
  }
}

function playAfterCommit(
  reply: FastifyReply,
  entry: LedgerEntry,
  answer: Answer,
  fault: Fault,
): FastifyReply {
  switch (fault.kind) {
    case '5xx-after-commit':
      return send(reply, entry, refuse(fault.status ?? 502, 'Bad Gateway'));
    case 'reset-after-commit':
      return reset(reply);
    case 'hang-after-commit':
      return reply.hijack();
    case 'malformed-body':
      entry.outcome.status = 200;
      return reply.code(200).type('application/json').send('{"id": <html><body>oops');
    case 'truncated-reply':
      entry.outcome.status = answer.status;
      return truncate(reply, answer);
    case 'unknown-decision':
      return send(reply, entry, withBody(answer, { decision: 'escalated' }));
    case 'reply-without-id':
      return send(reply, entry, withBody(answer, { id: undefined }));
    default:
      return send(reply, entry, answer);
  }
}

/** Returns the answer with a changed body. Errors stay unchanged, since they have neither id nor decision. */
function withBody(answer: Answer, change: Record<string, unknown>): Answer {
  return answer.status === 200 ? { ...answer, body: { ...answer.body, ...change } } : answer;
}

/** Closes the connection with a TCP RST, as a crashed server or a proxy does. */
function reset(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.socket?.resetAndDestroy();
  return reply;
}

/** Announces the full content length and sends half of the body. */
function truncate(reply: FastifyReply, answer: Answer): FastifyReply {
  const body = Buffer.from(JSON.stringify(answer.body));
  reply.hijack();
  reply.raw.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': body.length });
  reply.raw.write(body.subarray(0, body.length / 2), () => reply.raw.socket?.end());
  return reply;
}

export type Keys = Record<Mode, string>;

export interface RouteParts {
  readonly gate: Gate;
  readonly screening: ScreeningService;
  readonly portal: PortalService;
  /** Read at each request, since the control plane may replace them. */
  readonly keys: () => Keys;
}

/** Registers the screening API at one base address, which accepts only the key of its mode. */
export function screeningRoutes(app: FastifyInstance, mode: Mode, parts: RouteParts): void {
  const { gate, screening, keys } = parts;
  const guarded = (key: unknown, answer: () => Answer) => () =>
    key === keys()[mode] ? answer() : notAuthorized();

  // The paths of the definition and of the usage samples.
  for (const path of ['/transaction', '/']) {
    app.post(path, (request, reply) => {
      const body = inDefinitionSpelling(request.body);
      const subject = screening.subjectOfCreate(body);
      const answer = guarded(body['nf-token'], () => screening.create(mode, body));
      return gate.pass({ operation: 'create-transaction', base: mode, subject, answer }, reply);
    });
  }

  app.post('/gateway_response', (request, reply) => {
    const body = inDefinitionSpelling(request.body);
    const subject = screening.subjectOfGatewayResponse(body);
    const answer = guarded(body['nf-token'], () => screening.gatewayResponse(mode, body));
    return gate.pass({ operation: 'gateway-response', base: mode, subject, answer }, reply);
  });

  const statuses = [
    ['status', '/status', (of: string) => screening.status(mode, of)],
    ['status-by-url', '/status_by_url', (of: string) => screening.statusById(mode, of)],
    ['status-by-invoice', '/status_by_invoice', (of: string) => screening.statusByInvoice(mode, of)],
  ] as const;
  for (const [operation, path, read] of statuses) {
    app.get<StatusRoute>(`${path}/:key/:of`, ({ params: { key, of } }, reply) => {
      const answer = guarded(key, () => read(of));
      return gate.pass({ operation, base: mode, subject: screening.subjectOfStatus(of), answer }, reply);
    });
  }
}

interface StatusRoute {
  Params: { key: string; of: string };
}

/** Registers the portal-action API. Both modes share one address, so the key determines the mode. */
export function portalRoutes(app: FastifyInstance, { gate, portal, keys }: RouteParts): void {
  for (const operation of PORTAL_OPERATIONS) {
    app.post(`/${operation}`, (request, reply) => {
      const body = asObject(request.body);
      const answer = (): Answer => {
        const { test, live } = keys();
        if (body.nf_token === test) return portal.act(operation, 'test', body);
        if (body.nf_token === live) return portal.act(operation, 'live', body);
        return notAuthorized();
      };
      return gate.pass({ operation, base: 'portal', subject: portal.subjectOf(body), answer }, reply);
    });
  }
}
