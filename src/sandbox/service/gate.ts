/** The way of every request through the sandbox: ledger, planned fault, API key, answer. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { FaultPlan } from '../fault-plan.ts';
import type { Ledger } from '../ledger.ts';
import { type Answer, type LedgerEntry, MODES, type Mode, type Operation, type Subject } from '../model.ts';
import { refuse } from './screening-service.ts';

export type Keys = Record<Mode, string>;

interface Call {
  readonly operation: Exclude<Operation, 'webhook'>;
  /** The API that was called. Both modes share the portal's address, so there the key determines the mode. */
  readonly base: Mode | 'portal';
  readonly key: unknown;
  readonly subject: Subject;
  /** Validates, commits and answers in one synchronous step. */
  readonly answer: (mode: Mode) => Answer;
}

interface GateParts {
  readonly ledger: Ledger;
  readonly faults: FaultPlan;
  /** The control plane changes them in place. */
  readonly keys: Keys;
  readonly onChange: () => void;
}

export type Gate = ReturnType<typeof createGate>;

/**
 * Handles every request. The state and the ledger entry change in the same synchronous step, so they agree even if the
 * connection breaks.
 */
export function createGate({ ledger, faults, keys, onChange }: GateParts) {
  const closing = new AbortController();
  const { signal } = closing;
  // Each active delay adds a listener, and a chaos run has many.
  setMaxListeners(0, signal);

  function commit({ base, key, answer }: Call, entry: LedgerEntry): Answer {
    const modes = base === 'portal' ? MODES : [base];
    const mode = modes.find((one) => keys[one] === key);
    const answered = mode ? answer(mode) : notAuthorized();
    const { committed, transaction } = answered;
    entry.committed = committed;
    if (transaction) {
      entry.transactionId = transaction.id;
      entry.invoiceNumber = transaction.invoiceNumber ?? entry.invoiceNumber;
      entry.outcome.decision = transaction.decision;
    }
    if (committed) onChange();
    return answered;
  }

  return {
    async pass(call: Call, reply: FastifyReply): Promise<FastifyReply> {
      const entry = ledger.open(call.operation, call.base, call.subject);
      entry.callerPort = reply.request.socket.remotePort ?? null;
      const fault = faults.pick(call.operation, call.subject);
      entry.fault = fault?.kind ?? null;
      if (fault?.delayMs) {
        const isOpen = await sleep(fault.delayMs, true, { signal }).catch(() => false);
        if (!isOpen) return reply.hijack();
      }

      const committed = () => commit(call, entry);
      const send = (answer: Answer) => sendAnswer(reply, entry, answer);
      switch (fault?.kind) {
        case '5xx-before-commit':
          return send(refuse(fault.status ?? 503, 'Service Unavailable'));
        case '429':
          reply.header('retry-after', String(fault.retryAfter ?? 1));
          return send(refuse(429, 'Too Many Requests'));
        case '403':
          return send(notAuthorized());
        case 'refused-in-body':
          return send({
            status: 200,
            body: { code: fault.status ?? 403, message: 'Refused' },
            committed: false,
          });
        case 'reset-before-commit':
          return reset(reply);
        case 'hang-before-commit':
          return reply.hijack();
        case '5xx-after-commit':
          committed();
          return send(refuse(fault.status ?? 502, 'Bad Gateway'));
        case 'reset-after-commit':
          committed();
          return reset(reply);
        case 'hang-after-commit':
          committed();
          return reply.hijack();
        case 'malformed-body':
          committed();
          entry.outcome.status = 200;
          return reply.code(200).type('application/json').send('{"id": <html><body>oops');
        case 'truncated-reply':
          return truncate(reply, entry, committed());
        case 'unknown-decision':
          return send(withBody(committed(), { decision: 'escalated' }));
        case 'reply-without-id':
          return send(withBody(committed(), { id: undefined }));
        default:
          return send(committed());
      }
    },
    /** Aborts active delays. Their requests are neither committed nor answered. */
    close: () => closing.abort(),
  };
}

function notAuthorized(): Answer {
  return refuse(403, 'Not Authorized');
}

function sendAnswer(reply: FastifyReply, entry: LedgerEntry, { status, body }: Answer): FastifyReply {
  entry.outcome.status = status;
  if (typeof body.code === 'number' || typeof body.code === 'string') entry.outcome.code = body.code;
  return reply.code(status).send(body);
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
function truncate(reply: FastifyReply, entry: LedgerEntry, { status, body }: Answer): FastifyReply {
  entry.outcome.status = status;
  const text = Buffer.from(JSON.stringify(body));
  reply.hijack();
  reply.raw.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length });
  reply.raw.write(text.subarray(0, text.length / 2), () => reply.raw.socket?.end());
  return reply;
}
