/** A portal action that runs as its own workflow: for a closed order, or for a transaction id without an order. */
import {
  ActivityFailure,
  CancellationScope,
  metricMeter,
  setCurrentDetails,
  sleep,
  TemporalFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { PortalRequest } from '../contract/activity-contract.ts';
import type { PortalAnswer } from '../contract/answers.ts';
import type { PortalActionInput } from '../contract/messages.ts';
import { portalKind } from '../contract/portal/portal-kinds.ts';
import type { Instant } from '../contract/words.ts';
import { wrongKeyWords } from '../order/attention.ts';
import { ACTION_MS, RETRY_AFTER_MS } from '../order/deadlines.ts';
import { defined } from '../order/defined.ts';
import { messageRefusal } from '../order/messages/check-messages.ts';
import { PORTAL_ACTION_INPUT } from '../order/messages/shapes.ts';
import { type EndedOutcome, portalFailure, portalMatter } from '../order/portal/portal-records.ts';
import { lastCall } from '../order/transactions.ts';
import { countAttention } from '../order/view/metrics.ts';
import { orderAttributes } from '../order/view/search-attributes.ts';
import { failureOf, performPortalAction, runFacts } from './activities.ts';
import { isEndedByHand, ownResult } from './perform.ts';

/**
 * Sends one portal action durably. A cancel is given up when its window closes, any other action a day after the request.
 * @returns the screening service's answer once the action is done
 * @throws `invalid-request`, `card-data-in-request`, `refused-by-screening-service`, `outcome-unknown`, `action-not-sent`,
 *   `cancel-window-closed`, `cancel-window-unknown`
 */
export async function portalAction(input: PortalActionInput): Promise<PortalAnswer> {
  return answerOf(input, await performInTime(requestOf(input)));
}

function requestOf(input: PortalActionInput): PortalRequest {
  const refused = messageRefusal(input, PORTAL_ACTION_INPUT);
  if (refused !== undefined) throw failureOf(refused);
  const { fields, transactionId, cancelBy, cancelWindowMs, integration } = input;
  const request = { integration, fields, ...defined({ transactionId }) };
  if (fields.kind !== 'cancel') return request;
  if (cancelBy === undefined || cancelWindowMs === undefined) {
    const message =
      'The cancel window of a transaction without an order is unknown: cancel the transaction in the portal.';
    throw failureOf({ code: 'cancel-window-unknown', message });
  }
  return { ...request, notAfter: lastCall(cancelBy, cancelWindowMs) };
}

interface Ended {
  outcome: EndedOutcome;
  at?: Instant;
}

/** On timeout or cancellation of the workflow, stops a running activity and awaits it. The action may have been done. */
async function performInTime(request: PortalRequest): Promise<Ended> {
  const isBounded = request.fields.kind !== 'cancel';
  const scope = new CancellationScope({ cancellable: true, ...(isBounded && { timeout: ACTION_MS }) });
  try {
    return await scope.run(() => retryUntilKeyAccepted(request));
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    return { outcome: { kind: 'unconfirmed' } };
  }
}

/**
 * Retries until the API key is accepted. A wrong key is an operator's mistake, so it is shown. A call that an operator ended manually is
 * retried as well, unless the screening service would perform it twice.
 */
async function retryUntilKeyAccepted(request: PortalRequest): Promise<Ended> {
  let maybeDone = false;
  let forbiddenKnown = false;
  for (;;) {
    try {
      const run = { ...runFacts(), forbiddenKnown };
      const result = await performPortalAction({ ...request, maybeDone }, run);
      const { outcome, at } = ownResult('portal', result, Date.now());
      if (outcome.kind !== 'forbidden') return { outcome, at };
      maybeDone ||= outcome.maybeDone === true;
      forbiddenKnown = true;
      upsertSearchAttributes([{ key: orderAttributes.needsAttention, value: true }]);
      setCurrentDetails(wrongKeyWords({ operation: request.fields.kind }));
    } catch (error) {
      const cause = error instanceof ActivityFailure ? error.cause : error;
      if (!isEndedByHand(cause) || portalKind(request.fields.kind).once) throw error;
      maybeDone = true;
      await sleep(RETRY_AFTER_MS, { summary: 'Retry after a failure' });
    }
  }
}

function answerOf(input: PortalActionInput, { outcome, at }: Ended): PortalAnswer {
  const { transactionId, orderId, integration, cancelBy } = input;
  const { kind } = input.fields;
  const { kind: status, ...said } = outcome;
  const failed = portalFailure({ kind, status, ...said });
  if (failed !== undefined) {
    // As an open order counts it.
    const matter = portalMatter({ kind, status, ...said });
    if (matter !== undefined) countAttention(metricMeter, integration, matter.code);
    const isLate = failed.code === 'cancel-window-closed' && cancelBy !== undefined;
    throw failureOf({ ...failed, ...(isLate && { cancelBy }) });
  }
  return { integration, kind, status: 'done', ...said, ...defined({ at, orderId, transactionId }) };
}
