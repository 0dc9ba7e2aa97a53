import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { notAuthorized, refuse } from './answers.ts';
import type { Fault, FaultPlan } from './fault-plan.ts';
import type { Ledger } from './ledger.ts';
import type { Answer, LedgerEntry, PortalOperation, ScreeningOperation, Subject } from './model.ts';

/** One request to an operation of the interface document. */
export interface Call {
  readonly operation: ScreeningOperation | PortalOperation;
  readonly base: LedgerEntry['base'];
  readonly subject: Subject;
  /** Checks, commits and answers, in one synchronous step. */
  readonly answer: () => Answer;
}

/**
 * What every request goes through: it is entered in the ledger, meets its planned fault, and is answered. The
 * commit and its entry change in the same step, so they agree whatever becomes of the connection.
 */
export class Gate {
  private readonly ledger: Ledger;
  private readonly faults: FaultPlan;
  private readonly onChange: () => void;
  private readonly closing = new AbortController();

  constructor(ledger: Ledger, faults: FaultPlan, onChange: () => void) {
    this.ledger = ledger;
    this.faults = faults;
    this.onChange = onChange;
    // One listener for each delay under way, and a chaos run has many.
    setMaxListeners(0, this.closing.signal);
  }

  async pass(call: Call, reply: FastifyReply): Promise<FastifyReply> {
    const entry = this.ledger.open(call.operation, call.base, call.subject);
    this.onChange();
    const fault = this.faults.pick(call.operation, call.subject);
    if (fault) {
      entry.fault = fault.kind;
      if (fault.delayMs && !(await this.delay(fault.delayMs))) return reply.hijack();
      const instead = answerBeforeCommit(fault);
      if (instead) return send(reply, entry, instead, fault);
      if (fault.kind === 'reset-before-commit') return reset(reply);
      if (fault.kind === 'hang-before-commit') return reply.hijack();
    }
    const answer = call.answer();
    settle(entry, answer);
    this.onChange();
    return fault ? playAfterCommit(reply, entry, answer, fault) : send(reply, entry, answer);
  }

  /** Ends the delays under way: their requests are never committed, nor answered. */
  close(): void {
    this.closing.abort();
  }

  /** False when the sandbox was closed meanwhile. */
  private delay(ms: number): Promise<boolean> {
    return sleep(ms, true, { signal: this.closing.signal }).catch(() => false);
  }
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

/** The answer with a changed body; an error has neither id nor decision, and stays. */
function withBody(answer: Answer, change: Record<string, unknown>): Answer {
  return answer.status === 200 ? { ...answer, body: { ...answer.body, ...change } } : answer;
}

/** Ends the connection by RST, as a crashed service or a proxy does. */
function reset(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.socket?.resetAndDestroy();
  return reply;
}

/** Promises the whole body, and sends half of it. */
function truncate(reply: FastifyReply, answer: Answer): FastifyReply {
  const body = Buffer.from(JSON.stringify(answer.body));
  reply.hijack();
  reply.raw.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': body.length });
  reply.raw.write(body.subarray(0, body.length / 2), () => reply.raw.socket?.end());
  return reply;
}
