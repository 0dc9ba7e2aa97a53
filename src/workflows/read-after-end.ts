/** Reads the decisions of an ended order after a hint or a recheck, and reports the changed ones. */
import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  log,
  makeContinueAsNewFunc,
  metricMeter,
  proxyActivities,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  BackgroundActivities,
  ReadActivities,
  ReadRequest,
  StatusOutcome,
  Timed,
} from '../contract/activity-contract.ts';
import { type OrderEvent, recheckSignal, reviewHintSignal } from '../contract/messages.ts';
import type { LateDecision } from '../contract/order/order.ts';
import type { OrderState, OrderTransaction } from '../contract/order/state.ts';
import {
  applyLateReading,
  LATE_DECISIONS,
  lastDecision,
  noteLateEvent,
  type ReadAfterEndInput,
} from '../order/after-end.ts';
import { isUnusable } from '../order/decide.ts';
import { lacksKey, shapeRefusal, whyUnread } from '../order/messages/check-messages.ts';
import { READ_AFTER_END_INPUT } from '../order/messages/shapes.ts';
import { FIRST_SPACING_MS, LONGEST_SPACING_MS, longerSpacing } from '../order/spacing.ts';
import { countAttention } from '../order/view/metrics.ts';
import { failureOf, runFacts } from './activities.ts';
import { ACTIVITY_OPTIONS, ownResult, READ_AFTER_END_OPTIONS } from './perform.ts';

/**
 * The minimum time that a run stays open after a spacing. A client that reads the memo and then signals or starts this workflow finds the
 * same run still open, whose decisions it has not seen.
 */
const MIN_OPEN_MS = 10_000;

const { readStatus } = proxyActivities<ReadActivities>(READ_AFTER_END_OPTIONS);
const { deliverEvents } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.deliverEvents);

/**
 * Reads the status of the order's transactions immediately, and again for signals that arrive: one read at a time, and one more after the
 * spacing. The spacing is that of open orders: 2 s, doubling up to 5 min under a flood. An answer that can't be read, or that is
 * `error` in place of a decision, is read again until the spacing is at its longest. Ends when nothing is pending.
 * @returns the decisions found since the order's end
 * @throws `invalid-request` for an argument that the client library never sends
 */
export async function readAfterEnd(input: ReadAfterEndInput): Promise<LateDecision[]> {
  // Fails the workflow task until a worker with the payload key takes it: a refusal would lose the read.
  if (lacksKey(input)) throw new Error(whyUnread(input));
  const refused = shapeRefusal(input, READ_AFTER_END_INPUT);
  if (refused !== undefined) throw failureOf(refused);
  const pending = { read: true };
  const requestRead = (): void => {
    pending.read = true;
  };
  setHandler(reviewHintSignal, requestRead);
  setHandler(recheckSignal, requestRead);
  const ended: ReadAfterEndInput = { ...input };
  const { integration, transactions } = ended.order;
  // Events are delivered one at a time, concurrently with the reads.
  let undelivered = 0;
  let lastDelivery = Promise.resolve();
  const deliver = async (event: OrderEvent): Promise<void> => {
    const status = await deliverEvents([event], runFacts())
      .then((result) => ownResult('deliver', result, Date.now()))
      .then(
        () => 'delivered' as const,
        () => 'undelivered' as const,
      );
    // Neither is a command.
    if (status === 'undelivered') {
      log.warn('an event of an ended order could not be delivered, and was given up');
      countAttention(metricMeter, integration, 'events-undelivered');
    }
    noteLateEvent(ended, event.sequence, status);
    upsertMemo(memoOf(ended));
    undelivered -= 1;
  };
  let spacingMs = input.spacingMs ?? FIRST_SPACING_MS;
  for (;;) {
    pending.read = false;
    for (const transaction of transactions) {
      const read = await statusOf(ended.order, transaction);
      if (read?.outcome === undefined) continue;
      if (isUnusable(read.outcome, lastDecision(ended, transaction)) && spacingMs < LONGEST_SPACING_MS)
        pending.read = true;
      if (read.outcome.kind !== 'read') continue;
      const known = ended.decisions;
      const { event, raised } = applyLateReading(ended, transaction, read.outcome, read.at);
      for (const reason of raised) {
        log.warn('a decision about an ended order needs attention', { reason });
        countAttention(metricMeter, integration, reason);
      }
      if (ended.decisions !== known) upsertMemo(memoOf(ended));
      if (event === undefined) continue;
      undelivered += 1;
      lastDelivery = lastDelivery.then(() => deliver(event));
    }
    await sleep(spacingMs, { summary: 'The spacing between reads' });
    const again = pending.read || (await condition(() => pending.read, Math.max(spacingMs, MIN_OPEN_MS)));
    await condition(() => pending.read || undelivered === 0);
    if (!pending.read) return ended.decisions;
    spacingMs = again ? longerSpacing(spacingMs) : FIRST_SPACING_MS;
    if (workflowInfo().continueAsNewSuggested && undelivered === 0) {
      const next = makeContinueAsNewFunc<typeof readAfterEnd>({ memo: memoOf(ended) });
      await next({ ...ended, spacingMs });
    }
  }
}

/** @returns undefined if the screening service did not answer within a day, or an operator ended the activity */
async function statusOf(
  { integration, transactions, attempts }: OrderState,
  { id: transactionId, attempt, cancelBy }: OrderTransaction,
): Promise<Timed<StatusOutcome | undefined> | undefined> {
  try {
    const ofAttempt = transactions.filter((one) => one.attempt === attempt).map(({ id }) => id);
    // A decision of an earlier attempt changes no action, whoever reported it.
    const reports = attempt === attempts.at(-1)?.number && { reportsOf: ofAttempt };
    const request: ReadRequest = { integration, transactionId, attempt, cancelBy, ...reports };
    const run = { ...runFacts(), forbiddenKnown: true };
    return ownResult('read', await readStatus(request, run), Date.now());
  } catch (error) {
    if (!(error instanceof ActivityFailure || error instanceof ApplicationFailure)) throw error;
    log.warn('the status of an ended order could not be read');
    return undefined;
  }
}

function memoOf({ decisions }: ReadAfterEndInput): Record<string, LateDecision[]> {
  return { [LATE_DECISIONS]: decisions };
}
