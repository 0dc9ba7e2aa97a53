/** What an order wants done in the background, derived from its state; the workflow starts and stops it accordingly. */
import { currentAttempt } from './new-order.ts';
import type { Attempt, OrderState } from './state.ts';
import { millis } from './words.ts';

/** One thing to be done in the background. `key` tells two of them apart. */
export type Job =
  | { key: string; kind: 'catch-up'; attempt: number; rescreen: boolean }
  | { key: string; kind: 'poll'; transactionId: string }
  | { key: string; kind: 'read'; transactionId: string }
  | { key: string; kind: 'gateway'; attempt: number }
  | { key: string; kind: 'look-up'; attempt: number }
  | { key: string; kind: 'forget-card'; attempt: number };

/** @returns all jobs that the order wants running at `nowMs` */
export function wantedJobs(order: OrderState, nowMs: number, readAgain: boolean): Job[] {
  if (order.policy === undefined) return [];
  const attempt = currentAttempt(order);
  const jobs: Job[] = [];
  if (wantsCatchUp(order, attempt)) {
    const rescreen = order.decision === 'error';
    const key = `catch-up:${attempt.number}:${attempt.rescreens}`;
    jobs.push({ key, kind: 'catch-up', attempt: attempt.number, rescreen });
  }
  if (attempt.transactionId !== undefined) {
    const { transactionId } = attempt;
    if (wantsPoll(order, attempt, nowMs))
      jobs.push({ key: `poll:${transactionId}`, kind: 'poll', transactionId });
    if (readAgain && order.phase !== 'canceled' && order.phase !== 'closed') {
      jobs.push({ key: `read:${transactionId}`, kind: 'read', transactionId });
    }
  }
  for (const one of order.attempts) {
    const { number } = one;
    if (one.gateway !== undefined && one.gateway.sent === undefined && one.transactionId !== undefined) {
      jobs.push({ key: `gateway:${number}:${one.gateway.result}`, kind: 'gateway', attempt: number });
    }
    if (wantsLookUp(order, one)) jobs.push({ key: `look-up:${number}`, kind: 'look-up', attempt: number });
    if (one.cardRef !== undefined && !one.cardForgotten && cardIsDone(order, one)) {
      jobs.push({ key: `forget-card:${number}`, kind: 'forget-card', attempt: number });
    }
  }
  return jobs;
}

/** @returns whether the job must be done before the order may end */
export function mustFinish(job: Job): boolean {
  return job.kind === 'gateway' || job.kind === 'forget-card';
}

function wantsCatchUp(order: OrderState, attempt: Attempt): boolean {
  if (order.phase !== 'screening' || order.cancelAsked || attempt.screeningOver) return false;
  if (attempt.answer === undefined) return false;
  return order.decision === 'pending' || attempt.rescreenDue === true;
}

/** A review is polled until it resolves, an order reported as fraud until its decision changes or the window ends. */
function wantsPoll(order: OrderState, attempt: Attempt, nowMs: number): boolean {
  if (order.decision === 'review') return order.phase === 'review' || order.phase === 'awaiting-gateway';
  return (
    order.fraudReportedAt === order.decision &&
    (order.phase === 'decided' || order.phase === 'awaiting-gateway') &&
    attempt.cancelBy !== undefined &&
    nowMs < millis(attempt.cancelBy)
  );
}

/** A declined `pending` may have left a transaction: it is recorded, not acted on. */
function wantsLookUp(order: OrderState, attempt: Attempt): boolean {
  return (
    order.phase === 'declined' &&
    attempt.decision === 'pending' &&
    attempt.maybeSentSince !== undefined &&
    attempt.transactionId === undefined &&
    !attempt.lookedUp
  );
}

/** The card is needed until a decision other than `error` is recorded, or nothing screens it again. */
function cardIsDone(order: OrderState, attempt: Attempt): boolean {
  if (attempt.number < order.attempts.length) return true;
  return order.phase !== 'screening';
}
