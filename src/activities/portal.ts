/** Activities that send portal actions and gateway results to the screening service. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type {
  GatewayOutcome,
  GatewayResponseRequest,
  PortalOutcome,
  PortalRequest,
} from '../contract/activity-contract.ts';
import { PORTAL_ACTION } from '../contract/messages.ts';
import { isSentOnce, portalKind } from '../contract/portal/portal-kinds.ts';
import { latest, millis } from '../contract/words.ts';
import { defined } from '../order/defined.ts';
import {
  type CallOptions,
  type ChargebackReply,
  type ScreeningClient,
  ScreeningError,
} from '../screening-service/index.ts';
import { type ActivityWorld, clientFor } from './activity-world.ts';
import type { Beginning, Clock, ServerClock } from './server-clock.ts';
import {
  askedToStop,
  earlierTryMayBeDone,
  grownPauseMs,
  halfOfWhatIsLeft,
  isAfterReset,
  isForbidden,
  isForbiddenKnown,
  pauseAfter,
  refusalWords,
  reportNothingDone,
  retryLater,
  retryWrongKey,
  WRONG_KEY_PAUSE_MS,
  wasCalledBeforeReset,
} from './tries.ts';

const PATIENT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;

/**
 * Returns when the attempt began, in server time. For a cancel it takes the later of two measurements, which may differ by 2 s, so that
 * no cancel is sent after its window.
 */
export async function exactlyForCancels(
  clock: ServerClock,
  { fields, notAfter }: PortalRequest,
): Promise<Beginning> {
  if (fields.kind !== 'cancel') return clock.began(false);
  const beginning = await clock.began(true, notAfter);
  return { ...beginning, began: latest(clock.now(), beginning.began) };
}

export function portalActivities(world: ActivityWorld) {
  return {
    /** Sends the gateway's result until the screening service accepts it. Sending it again is safe. */
    async sendGatewayResponse(request: GatewayResponseRequest): Promise<GatewayOutcome> {
      const { transactionId, gateway } = request;
      const { result, authcode, transactionId: gatewayTransactionId } = gateway;
      try {
        await clientFor(world, request.integration).gatewayResponse(
          { transactionId, result, ...defined({ authcode, gatewayTransactionId }) },
          { timeoutMs: PATIENT_MS },
        );
        return { kind: 'sent' };
      } catch (error) {
        if (isForbidden(error)) {
          if (isForbiddenKnown()) throw retryWrongKey();
          return { kind: 'forbidden' };
        }
        const words = refusalWords(error);
        if (words !== undefined) return { kind: 'refused', words };
        throw retryLater(error);
      }
    },

    /**
     * Sends one portal action. Only HTTP 200 with a 2xx code counts as done. After an unknown outcome a chargeback isn't
     * sent again. Other actions are, and if the repeat is refused, the action stays unconfirmed. A cancel is never sent after its
     * window. A request in flight isn't aborted when the order cancels the activity: its result counts.
     */
    async performPortalAction(request: PortalRequest, { time }: Clock): Promise<PortalOutcome> {
      const earlierRun = await endOfEarlierRun(world, time, request);
      if (earlierRun === 'done') return { kind: 'done' };
      const mayBeDone = earlierRun === 'in-doubt' || mayBeDoneBefore(request);
      if (!mayBeDone && askedToStop()) return { kind: 'not-sent' };
      if (portalKind(request.fields.kind).once && mayBeDone && !mayBeRepeated(request)) {
        return { kind: 'unconfirmed' };
      }
      const call = portalCall(request);
      if ('words' in call) return { kind: 'refused', message: call.words, local: true };
      const timeLeft = timeLeftMs(time, request);
      if (!(timeLeft > 0)) return mayBeDone ? { kind: 'unconfirmed' } : { kind: 'too-late' };
      try {
        const client = clientFor(world, request.integration);
        const reply = await call(client, { timeoutMs: Math.min(PATIENT_MS, timeLeft) });
        const { message, chargeback } = reply;
        return { kind: 'done', code: String(reply.code), ...defined({ message, chargeback }) };
      } catch (error) {
        return afterFailure(time, request, error, mayBeDone);
      }
    },
  };
}

/**
 * Rule «started again»: an action that runs as its own workflow is done once, also if an operator starts the workflow again with its stored
 * input. A chargeback isn't sent either if an earlier run may have submitted it.
 */
async function endOfEarlierRun(
  { orders }: ActivityWorld,
  time: Clock['time'],
  request: PortalRequest,
): Promise<'done' | 'in-doubt' | 'none'> {
  const { workflowType, workflowExecution } = activityInfo();
  if (workflowType !== PORTAL_ACTION || orders === undefined || workflowExecution === undefined)
    return 'none';
  // The earlier try has asked.
  if (earlierTryMayBeDone()) return 'none';
  const { workflowId } = workflowExecution;
  try {
    if (await orders.isDone(workflowId)) return 'done';
    return isSentOnce(request.fields) && (await orders.isInDoubt(workflowId)) ? 'in-doubt' : 'none';
  } catch (error) {
    // A second cancel does no harm, and it can't wait until its window is over.
    if (request.fields.kind === 'cancel' && timeLeftMs(time, request) > 0) return 'in-doubt';
    reportNothingDone();
    throw retryLater(error, grownPauseMs(FIRST_PAUSE_MS));
  }
}

/** Whether an earlier attempt, an earlier activity, or the previous run before a reset may have performed the action. */
function mayBeDoneBefore(request: PortalRequest): boolean {
  return earlierTryMayBeDone() || request.maybeDone === true || isAfterReset();
}

/**
 * Whether a chargeback may be sent again: a user forced it, knowing what the run before a reset did. Earlier attempts of
 * this activity are not known to any user.
 */
function mayBeRepeated(request: PortalRequest): boolean {
  return !isSentOnce(request.fields) && !earlierTryMayBeDone() && !wasCalledBeforeReset();
}

function afterFailure(
  time: Clock['time'],
  request: PortalRequest,
  error: unknown,
  mayBeDone: boolean,
): PortalOutcome {
  const isUndone = isCertainlyUndone(error);
  if (isUndone) {
    if (!mayBeDone && askedToStop()) return { kind: 'not-sent' };
    reportNothingDone();
  }
  if (isForbidden(error)) {
    if (!isForbiddenKnown()) return { kind: 'forbidden', ...(mayBeDone && { maybeDone: true }) };
    throw failureOf(request, retryWrongKey(beforeTheEnd(time, request, WRONG_KEY_PAUSE_MS)));
  }
  const words = refusalWords(error);
  if (words !== undefined) {
    if (mayBeDone) return { kind: 'unconfirmed', message: words };
    return { kind: 'refused', message: words, ...codeOf(error) };
  }
  if (!isUndone && portalKind(request.fields.kind).once) return { kind: 'unconfirmed' };
  const pauseMs = pauseAfter(error instanceof ScreeningError ? error : {}, grownPauseMs(FIRST_PAUSE_MS));
  throw failureOf(request, retryLater(error, beforeTheEnd(time, request, pauseMs)));
}

/** Names the action in the failure's details: readers of the order can't tell its pending activities apart otherwise. */
function failureOf({ action }: PortalRequest, failure: ApplicationFailure): ApplicationFailure {
  return action === undefined ? failure : Object.assign(failure, { details: [action] });
}

/**
 * Whether nothing was done, so that the same request may be sent again: the key is wrong, the screening service is rate-limiting or
 * unreachable, or the settings are incomplete.
 */
function isCertainlyUndone(error: unknown): boolean {
  if (error instanceof ApplicationFailure) return true;
  return isForbidden(error) || (error instanceof ScreeningError && error.outcome === 'not-done');
}

/** The code of a refusal. 200 is left out: a refusal may arrive with HTTP 200, which would look like success. */
function codeOf(error: unknown): { code?: string } {
  const code = error instanceof ScreeningError ? (error.code ?? error.status) : undefined;
  return code === undefined || code === 200 ? {} : { code: String(code) };
}

/** Shortens the pause so that a cancel is retried within its window, and ends as too late right after it. */
function beforeTheEnd(time: Clock['time'], request: PortalRequest, pause: number): number {
  const left = timeLeftMs(time, request);
  return Math.max(1, Math.min(halfOfWhatIsLeft(pause, left), left));
}

function timeLeftMs(time: Clock['time'], { notAfter }: PortalRequest): number {
  return notAfter === undefined ? Number.MAX_SAFE_INTEGER : millis(notAfter) - millis(time());
}

/** Sends the action; only a chargeback's reply echoes the submitted fields. @throws ScreeningError */
type PortalCall = (client: ScreeningClient, options: CallOptions) => Promise<ChargebackReply>;

/** @returns a function that sends the action, or the reason why it can't be sent */
function portalCall({ fields, transactionId }: PortalRequest): PortalCall | { words: string } {
  if (fields.kind === 'customer-code') {
    const { customerCode, email } = fields;
    if (!email) return { words: 'The order has no e-mail address. Send one with the customer code.' };
    return (client, options) => client.customerCode({ customerCode, email }, options);
  }
  if (!transactionId) return { words: 'The request names no transaction.' };
  switch (fields.kind) {
    case 'cancel':
      return (client, options) => client.cancelTransaction({ transactionId }, options);
    case 'report-fraud':
      return (client, options) => client.reportFraud({ transactionId }, options);
    case 'chargeback': {
      const { kind: _kind, force: _force, transactionId: _named, notCards: _vouched, ...chargeback } = fields;
      return (client, options) => client.submitChargeback({ transactionId, ...chargeback }, options);
    }
  }
}
