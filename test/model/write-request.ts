/** Requests of a life as messages to the order. */
import { randomUUID } from 'node:crypto';
import { decisionUpdateId, gatewayUpdateId, retryUpdateId } from '../../src/orders/ids.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import type { Entry, Happening } from './log.ts';
import { current, type Model } from './model.ts';
import type { Request } from './refusals.ts';
import type { Content, Step } from './steps.ts';

export type RequestStep = Extract<
  Step,
  {
    do: 'decision' | 'retry' | 'gateway-result' | 'cancel' | 'report-fraud' | 'chargeback' | 'customer-code';
  }
>;

export interface Message {
  message: string;
  request: Request;
  args: Record<string, unknown>;
  updateId?: string;
  /** Answers to the same key must be the same. */
  key?: string;
  /** What the log says of it, if the order takes it. */
  entry?: Happening;
}

/** A step as a message to the order. */
export function writeRequest(step: RequestStep, model: Model, log: readonly Entry[]): Message {
  const last = model.attempts.length;
  switch (step.do) {
    case 'decision': {
      const attempt = Math.max(1, last - step.back);
      const otherContent = step.content === 'other';
      return {
        message: 'decision',
        request: { do: 'decision', attempt, otherContent },
        args: { attempt, ...fingerprint(attempt, step.content) },
        ...(step.id && !otherContent && attempt <= last && { updateId: decisionUpdateId(attempt) }),
        key: `decision ${attempt}`,
      };
    }
    case 'retry': {
      const attempt = Math.max(2, last + step.ahead);
      const otherContent = step.content === 'other' && attempt <= last;
      const content = step.content === 'other' && attempt > last ? 'same' : step.content;
      return {
        message: 'retry',
        request: { do: 'retry', attempt, otherContent },
        args: { attempt, transaction: { ...aTransaction() }, ...fingerprint(attempt, content) },
        ...(step.id && !otherContent && { updateId: retryUpdateId(attempt) }),
        key: `decision ${attempt}`,
        ...(attempt > last && { entry: { kind: 'retry', attempt } as const }),
      };
    }
    case 'gateway-result': {
      const attempt = Math.max(1, last - step.back);
      const { result } = step;
      const known = model.attempts.find((one) => one.number === attempt)?.gateway;
      return {
        message: 'recordGatewayResult',
        request: { do: 'gateway-result', attempt, result },
        args: { attempt, result },
        ...(known === result && {
          updateId: gatewayUpdateId(attempt),
        }),
        entry: { kind: 'gateway-result', attempt, result },
      };
    }
    case 'cancel':
    case 'report-fraud': {
      const named = {
        newest: current(model).txs.at(-1),
        first: model.attempts[0]?.txs[0],
        unknown: randomUUID(),
      };
      const tx = step.tx === 'unnamed' ? undefined : named[step.tx];
      const to = { ...(tx && { tx }) };
      return {
        message: step.do === 'cancel' ? 'cancel' : 'reportFraud',
        request: { do: step.do, ...to },
        args: { ...(tx && { transactionId: tx }) },
        entry: step.do === 'cancel' ? { kind: 'cancel', ...to } : { kind: 'report-fraud' },
      };
    }
    case 'chargeback': {
      const { force } = step;
      const fields = { reason_code: `10.${step.number}`, due_date: '2034-04-01' };
      const before = log.findLast(
        (one) =>
          one.kind === 'portal' && one.action === 'chargeback' && one.subject.includes(fields.reason_code),
      );
      const unconfirmedBefore = before?.kind === 'portal' && before.result === 'unconfirmed';
      return {
        message: 'submitChargeback',
        request: { do: 'chargeback', unconfirmedBefore, force },
        args: { ...fields, ...(force && { force }) },
      };
    }
    case 'customer-code':
      return {
        message: 'attachCustomerCode',
        request: { do: 'customer-code' },
        args: { customerCode: 'c-1' },
      };
  }
}

function fingerprint(attempt: number, content: Content): { fingerprint?: string } {
  if (content === 'unsaid') return {};
  return { fingerprint: content === 'same' ? `f-${attempt}` : 'f-other' };
}
