/**
 * Screening after the first checkout: a further attempt for a waiting caller, the catch-up of an attempt without a decision, and a rescreen
 * after the decision `error`. At most one of them runs at a time, since each may create a transaction.
 */
import type { AdoptRequest, RetryRequest } from '../../contract/messages.ts';
import type { Attempt } from '../../contract/order/state.ts';
import { type Instant, laterBy } from '../../contract/words.ts';
import { clear, clearedBy } from '../attention.ts';
import { defined } from '../defined.ts';
import type { Accepted, Concern, Order, RequiredEffect } from '../order.ts';
import { addAttempt, attemptNumbered, currentAttempt } from '../record.ts';
import { applyScreening, CREATE } from '../screening/apply-screening.ts';
import {
  answerCheckout,
  BROKE_DOWN,
  failedScreening,
  noteChecked,
  screenRequest,
} from '../screening/checkout.ts';
import { recordLate } from '../screening/record-screening.ts';
import { cancelAsked, mayBeSeen, transactionNamed } from '../transactions.ts';

/** How long a try may still send a create after the server has given it up, or an operator has failed it. */
const STILL_SENDS_MS = 10_000;

export const screening: Concern = {
  name: 'screening',
  keepsOpen: true,

  desired(order) {
    const { state } = order;
    const attempt = currentAttempt(state);
    if (state.endedAt !== undefined && !order.policyMissing) return [];
    if (attempt.answer === undefined) {
      const call = { kind: 'retry-screening', request: screenRequest(order, attempt) } as const;
      return [{ ...write(`retry:${attempt.number}`), call }];
    }
    return needsCatchUp(order, attempt) ? [catchUp(order, attempt)] : [];
  },

  // From its start the effect may send a create at any time, whatever its outcome.
  started({ state, now }, { call }) {
    const attempt = currentAttempt(state);
    if (call.kind !== 'catch-up' && call.kind !== 'retry-screening') return;
    const { invoiceNumber } = call.request;
    attempt.invoiceNumber = invoiceNumber;
    if (call.kind === 'catch-up') attempt.unseen ??= { invoiceNumber, since: now };
  },

  ended(order, { effect: { call }, since }, outcome) {
    if (call.kind === 'retry-screening') {
      if (outcome.status !== 'completed') {
        order.retryAt[catchUpKey(currentAttempt(order.state))] = laterBy(STILL_SENDS_MS, order.now);
        // What policy says for this attempt is not known.
        return answerCheckout(order, { outcome: failedScreening(since), whenUnavailable: 'hold' });
      }
      return outcome.result.kind === call.kind ? answerCheckout(order, outcome.result) : [];
    }
    if (outcome.status === 'failed') return 'retry-later';
    if (call.kind !== 'catch-up' || outcome.status === 'canceled' || outcome.result.kind !== call.kind)
      return [];
    const { state, now } = order;
    const attempt = attemptNumbered(state, call.request.attempt);
    const { outcome: screened } = outcome.result;
    noteChecked(order, attempt, outcome.result);
    const source = state.decision === 'error' ? 'rescreen' : 'catch-up';
    if (attempt !== currentAttempt(state)) return recordLate(state, attempt, screened, now);
    return applyScreening(state, screened, { source, now });
  },
};

/** A lookup needs the policy, too: the catch-up brings it, also after the screening deadline. */
function needsCatchUp({ state, policyMissing }: Order, attempt: Attempt): boolean {
  if (policyMissing) return mayBeSeen(attempt);
  if (state.phase !== 'screening' || cancelAsked(state) || attempt.screeningOver) return false;
  return state.decision === 'pending' || attempt.rescreenDue === true;
}

function catchUp(order: Order, attempt: Attempt): RequiredEffect {
  const { notBefore, policyMissing } = order;
  const { answer, rescreens, readings, cardRef, startedAt, screenUntil: until } = attempt;
  // The checkout's activity failed, and nothing was read since.
  const mayBeSkipped = answer?.reason === BROKE_DOWN && rescreens === 0 && readings.length === 0;
  const request = {
    ...screenRequest(order, attempt),
    until,
    ...(mayBeSkipped && { mayBeSkipped }),
    ...(cardRef !== undefined && { cardSince: startedAt }),
    ...defined({ notBefore, policyMissing }),
  };
  return { ...write(catchUpKey(attempt)), call: { kind: 'catch-up', request } };
}

function catchUpKey({ number, rescreens }: Attempt): string {
  return `catch-up:${number}:${rescreens}`;
}

function write(key: string) {
  return { key, resource: 'create', whenObsolete: 'cancel-and-await', cause: CREATE } as const;
}

export function confirmAdoption({ state }: Order, { transactionId }: AdoptRequest): Accepted {
  const attempt = transactionNamed(state, transactionId)?.attempt ?? 1;
  const isNoted = state.adopted === undefined || state.journal?.some(({ what }) => what === 'adopt');
  return { taken: { attempt }, ...(!isNoted && { entry: { what: 'adopt' } }) };
}

/** Begins the attempt, unless it was begun before. */
export function beginAttempt(order: Order, request: RetryRequest, at: Instant): Accepted {
  const { state, asked } = order;
  const { attempt, transaction, answerBy } = request;
  if (state.attempts.length >= attempt) return { taken: { attempt } };
  addAttempt(state, request, at);
  order.asked = { transaction, ...defined({ workflow: asked.workflow, answerBy }) };
  clear(state, { codes: clearedBy('attempt') });
  return { taken: { attempt } };
}
