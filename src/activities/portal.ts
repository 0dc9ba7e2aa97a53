/** The portal actions and the gateway's result, sent on. */
import { ApplicationFailure } from '@temporalio/common';
import type {
  GatewayOutcome,
  GatewayResponseRequest,
  PortalOutcome,
  PortalRequest,
} from '../contract/activity-contract.ts';
import { isSentOnce, portalKind } from '../contract/portal-kinds.ts';
import { type Instant, millis } from '../contract/words.ts';
import {
  type CallOptions,
  type ChargebackReply,
  type ScreeningClient,
  ScreeningError,
} from '../screening/index.ts';
import { type ActivityWorld, clientOf, integrationOf } from './activity-world.ts';
import { isAfterReset, wasCalledBeforeReset } from './earlier-run.ts';
import type { Beginning, ServerClock } from './server-clock.ts';
import {
  askedPauseMs,
  askedToStop,
  earlierTryMayBeDone,
  grownPauseMs,
  isForbidden,
  putOff,
  refusalWords,
  retryLater,
  retryWrongKey,
  tellNothingWasDone,
  WRONG_KEY_PAUSE_MS,
} from './tries.ts';

const PATIENT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const SHORTEST_PAUSE_MS = 1_000;

/**
 * Returns when the try began, in server time. For a cancel it is the later of two measurements that may differ by 2 s, so that none
 * leaves after its window.
 */
export async function exactlyForCancels(clock: ServerClock, { fields }: PortalRequest): Promise<Beginning> {
  if (fields.kind !== 'cancel') return clock.began(false);
  const beginning = await clock.began(true);
  const now = clock.now();
  return { ...beginning, began: now > beginning.began ? now : beginning.began };
}

export function portalActivities(world: ActivityWorld) {
  return {
    /** Sends the gateway's result until the service accepts it. A repeat does no harm. */
    async sendGatewayResponse(request: GatewayResponseRequest): Promise<GatewayOutcome> {
      const { transactionId, gateway } = request;
      try {
        await clientOf(world, integrationOf(world, request.integration)).gatewayResponse(
          {
            transactionId,
            result: gateway.result,
            ...(gateway.authcode !== undefined && { authcode: gateway.authcode }),
            ...(gateway.transactionId !== undefined && { gatewayTransactionId: gateway.transactionId }),
          },
          { timeoutMs: PATIENT_MS },
        );
        return { kind: 'sent' };
      } catch (error) {
        if (isForbidden(error)) {
          if (request.forbiddenKnown) throw retryWrongKey();
          return { kind: 'forbidden' };
        }
        const words = refusalWords(error);
        if (words !== undefined) return { kind: 'refused', words };
        throw retryLater(error);
      }
    },

    /**
     * Sends one portal action. Only HTTP 200 with code 200 counts as done. After an unknown outcome a chargeback isn't
     * sent again; the others are, and a repeat that is refused stays unconfirmed. A cancel is never sent late. A request
     * that is on its way isn't given up when the order asks to stop: how it ends counts.
     */
    async performPortalAction(request: PortalRequest, time: () => Instant): Promise<PortalOutcome> {
      const mayBeDone = mayBeDoneBefore(request);
      if (!mayBeDone && askedToStop()) return { kind: 'not-sent' };
      if (portalKind(request.fields.kind).once && mayBeDone && !mayBeRepeated(request)) {
        return { kind: 'unconfirmed' };
      }
      const call = portalCall(request);
      if ('words' in call) return { kind: 'refused', message: call.words };
      const timeLeft = timeLeftMs(time, request);
      if (!(timeLeft > 0)) return mayBeDone ? { kind: 'unconfirmed' } : { kind: 'too-late' };
      try {
        const client = clientFor(world, request);
        const reply = await call(client, { timeoutMs: Math.min(PATIENT_MS, timeLeft) });
        return {
          kind: 'done',
          code: String(reply.code),
          ...(reply.message !== undefined && { message: reply.message }),
          ...(reply.chargeback !== undefined && { chargeback: reply.chargeback }),
        };
      } catch (error) {
        return afterFailure(time, request, error, mayBeDone);
      }
    },
  };
}

/** @throws ApplicationFailure only, whatever is wrong with the settings: nothing was sent. */
function clientFor(world: ActivityWorld, { integration }: PortalRequest): ScreeningClient {
  try {
    return clientOf(world, integrationOf(world, integration));
  } catch (error) {
    throw retryLater(error);
  }
}

/** Whether a try of this activity, one before it, or a run of the workflow that was reset, may have done it. */
function mayBeDoneBefore(request: PortalRequest): boolean {
  return earlierTryMayBeDone() || request.maybeDone === true || isAfterReset();
}

/** A person who forces a chargeback has seen what a run that was reset did before; of this activity's own tries nobody has. */
function mayBeRepeated(request: PortalRequest): boolean {
  return !isSentOnce(request.fields) && !earlierTryMayBeDone() && !wasCalledBeforeReset();
}

function afterFailure(
  time: () => Instant,
  request: PortalRequest,
  error: unknown,
  mayBeDone: boolean,
): PortalOutcome {
  if (isCertainlyUndone(error)) {
    if (!mayBeDone && askedToStop()) return { kind: 'not-sent' };
    tellNothingWasDone();
  }
  if (isForbidden(error)) {
    if (!request.forbiddenKnown) return { kind: 'forbidden', ...(mayBeDone && { maybeDone: true }) };
    throw retryWrongKey(beforeTheEnd(time, request, WRONG_KEY_PAUSE_MS));
  }
  const words = refusalWords(error);
  if (words !== undefined) {
    if (mayBeDone) return { kind: 'unconfirmed', message: words };
    return { kind: 'refused', message: words, ...codeOf(error) };
  }
  if (isUnknown(error) && portalKind(request.fields.kind).once) return { kind: 'unconfirmed' };
  throw putOff(error, pauseMs(time, request, error));
}

/** Nothing was done, and the same request may be: a wrong key, a service that puts us off or isn't reached, settings that lack it. */
function isCertainlyUndone(error: unknown): boolean {
  if (error instanceof ApplicationFailure) return true;
  return isForbidden(error) || (error instanceof ScreeningError && error.outcome === 'not-done');
}

function isUnknown(error: unknown): boolean {
  return !(
    error instanceof ApplicationFailure ||
    (error instanceof ScreeningError && error.outcome !== 'unknown')
  );
}

/** A refusal may come by HTTP 200, which would read as done. */
function codeOf(error: unknown): { code?: string } {
  const code = error instanceof ScreeningError ? (error.code ?? error.status) : undefined;
  return code === undefined || code === 200 ? {} : { code: String(code) };
}

/** Growing pauses, or the one that the service asked for. */
function pauseMs(time: () => Instant, request: PortalRequest, error?: unknown): number {
  const asked = error instanceof ScreeningError ? askedPauseMs(error) : undefined;
  return beforeTheEnd(time, request, asked ?? grownPauseMs(FIRST_PAUSE_MS));
}

/** Rule «window not wasted». A cancel is told in time that it was too late, too. */
function beforeTheEnd(time: () => Instant, request: PortalRequest, pause: number): number {
  const left = timeLeftMs(time, request);
  return Math.max(1, Math.round(Math.min(pause, Math.max(SHORTEST_PAUSE_MS, left / 2), left)));
}

function timeLeftMs(time: () => Instant, { notAfter }: PortalRequest): number {
  return notAfter === undefined ? Number.MAX_SAFE_INTEGER : millis(notAfter) - millis(time());
}

/** Sends the action; only a chargeback's reply echoes what was submitted. @throws ScreeningError */
type PortalCall = (client: ScreeningClient, options: CallOptions) => Promise<ChargebackReply>;

/** @returns how to send the action, or the words of why it can't be sent */
function portalCall({
  fields,
  transactionId,
  email: ordersOwn,
}: PortalRequest): PortalCall | { words: string } {
  if (fields.kind === 'customer-code') {
    const { customerCode, email = ordersOwn } = fields;
    if (!email) return { words: 'The order has no e-mail: send one with the customer code.' };
    return (client, options) => client.customerCode({ customerCode, email }, options);
  }
  if (!transactionId) return { words: 'No transaction is named.' };
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
