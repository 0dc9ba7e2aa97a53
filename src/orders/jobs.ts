/** What an order wants done in the background, derived from its state; the workflow starts and stops it accordingly. */
import { currentAttempt } from './new-order.ts';
import type { Attempt, GatewayRecord, OrderState } from './state.ts';
import { mayHoldUnknown } from './transactions.ts';
import { millis, type Phase, type ReadingSource } from './words.ts';

/** One thing to be done in the background. `key` tells two of them apart. */
export type Job =
  | { key: string; kind: 'catch-up'; attempt: Attempt; rescreen: boolean }
  | { key: string; kind: 'poll'; attempt: Attempt; transactionId: string }
  | { key: string; kind: 'read'; attempt: Attempt; transactionId: string; source: ReadingSource }
  | { key: string; kind: 'gateway'; attempt: Attempt; transactionId: string; gateway: GatewayRecord }
  | { key: string; kind: 'look-up'; attempt: Attempt }
  | { key: string; kind: 'forget-card'; attempt: Attempt; cardRef: string };

/**
 * @param readAgain who asked for a read that the service did not answer
 * @returns all jobs that the order wants running at `nowMs`
 */
export function wantedJobs(order: OrderState, nowMs: number, readAgain?: ReadingSource): Job[] {
  if (order.policy === undefined) return [];
  const attempt = currentAttempt(order);
  const jobs: Job[] = [];
  if (wantsCatchUp(order, attempt)) {
    const rescreen = order.decision === 'error';
    const key = `catch-up:${attempt.number}:${attempt.rescreens}`;
    jobs.push({ key, kind: 'catch-up', attempt, rescreen });
  }
  if (attempt.transactionId !== undefined) {
    const { transactionId } = attempt;
    if (wantsPoll(order, attempt, nowMs)) {
      jobs.push({ key: `poll:${transactionId}`, kind: 'poll', attempt, transactionId });
    }
    if (readAgain !== undefined && order.phase !== 'canceled' && order.phase !== 'closed') {
      jobs.push({ key: `read:${transactionId}`, kind: 'read', attempt, transactionId, source: readAgain });
    }
  }
  for (const one of order.attempts) {
    const { number, gateway, transactionId, cardRef } = one;
    if (gateway !== undefined && gateway.sent === undefined && transactionId !== undefined) {
      jobs.push({ key: `gateway:${number}`, kind: 'gateway', attempt: one, transactionId, gateway });
    }
    if (wantsLookUp(order, one)) jobs.push({ key: `look-up:${number}`, kind: 'look-up', attempt: one });
    if (cardRef !== undefined && !one.cardForgotten && cardIsDone(order, one)) {
      jobs.push({ key: `forget-card:${number}`, kind: 'forget-card', attempt: one, cardRef });
    }
  }
  return jobs;
}

/** @returns whether the job must be done before the order may end */
export function mustFinish(job: Job): boolean {
  return job.kind === 'gateway' || job.kind === 'look-up' || job.kind === 'forget-card';
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
    POLLED_AFTER_REPORT.includes(order.phase) &&
    attempt.cancelBy !== undefined &&
    nowMs < millis(attempt.cancelBy)
  );
}

/**
 * An attempt that ended without an answer may have left a transaction: it is recorded, not acted on. Never while another
 * attempt is being screened, whose transaction would be found in its place.
 */
function wantsLookUp(order: OrderState, attempt: Attempt): boolean {
  const { phase } = order;
  const over = phase === 'declined' || phase === 'closed' || attempt !== currentAttempt(order);
  return over && phase !== 'screening' && mayHoldUnknown(attempt) && !attempt.lookedUp;
}

const POLLED_AFTER_REPORT: Phase[] = ['decided', 'awaiting-gateway', 'declined'];

/** The card is needed until a decision other than `error` is recorded, or nothing screens it again. */
function cardIsDone(order: OrderState, attempt: Attempt): boolean {
  if (attempt.number < order.attempts.length) return true;
  return order.phase !== 'screening';
}
