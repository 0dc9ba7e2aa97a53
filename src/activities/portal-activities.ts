/** The portal actions and the gateway's result, sent on. Interface document, portal-action operations; design section 6. */
import { activityInfo } from '@temporalio/activity';
import type { PortalOutcome } from '../orders/portal.ts';
import type { GatewayOutcome, GatewayResponseRequest, PortalRequest } from '../orders/world.ts';
import { type ScreeningClient, ScreeningError } from '../screening/index.ts';
import { type ActivityWorld, clientOf, integrationOf } from './activity-world.ts';
import { tellNextTry } from './heartbeats.ts';
import { portalCall } from './portal-calls.ts';
import {
  askedPauseMs,
  grownPauseMs,
  isForbidden,
  refusalWords,
  retryLater,
  retryWrongKey,
  tryAgain,
  WRONG_KEY_PAUSE_MS,
} from './retry-later.ts';

const PATIENT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;

export function portalActivities(world: ActivityWorld) {
  return {
    /** Sends the gateway's result until the service accepts it. A repeat does no harm. */
    async sendGatewayResponse(request: GatewayResponseRequest): Promise<GatewayOutcome> {
      const { transactionId, gateway } = request;
      try {
        await clientOf(integrationOf(world, request.integration)).gatewayResponse(
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
     * sent again; the others are, and a repeat that is refused stays unconfirmed. A cancel is never sent late.
     */
    async performPortalAction(request: PortalRequest): Promise<PortalOutcome> {
      const mayBeDone = request.maybeDone === true || earlierTryMayBeDone();
      if (request.fields.kind === 'chargeback' && mayBeDone) return { kind: 'unconfirmed' };
      const call = portalCall(request);
      if ('words' in call) return { kind: 'refused', message: call.words };
      const timeLeft = timeLeftMs(request);
      if (!(timeLeft > 0)) return mayBeDone ? { kind: 'unconfirmed' } : { kind: 'too-late' };
      const client = clientFor(world, request, mayBeDone);
      try {
        const reply = await call(client, { timeoutMs: Math.min(PATIENT_MS, timeLeft) });
        return {
          kind: 'done',
          code: String(reply.code),
          ...(reply.message !== undefined && { message: reply.message }),
        };
      } catch (error) {
        return afterFailure(request, error, mayBeDone);
      }
    },
  };
}

/** Settings that lack the integration or its key are mended by an operator: nothing was sent meanwhile. */
function clientFor(world: ActivityWorld, request: PortalRequest, mayBeDone: boolean): ScreeningClient {
  try {
    return clientOf(integrationOf(world, request.integration));
  } catch (error) {
    nothingWasDone(mayBeDone);
    const { type, message } = retryLater(error);
    throw tryAgain(type ?? 'unexpected', message, pauseMs(request));
  }
}

function afterFailure(request: PortalRequest, error: unknown, mayBeDone: boolean): PortalOutcome {
  if (isForbidden(error)) {
    // What is told ends this activity, and with it the knowledge that an earlier try may have done it.
    if (!request.forbiddenKnown && !mayBeDone) return { kind: 'forbidden' };
    nothingWasDone(mayBeDone);
    throw retryWrongKey(beforeTheEnd(request, WRONG_KEY_PAUSE_MS));
  }
  const words = refusalWords(error);
  if (words !== undefined) {
    if (mayBeDone) return { kind: 'unconfirmed', message: words };
    return { kind: 'refused', message: words, ...codeOf(error) };
  }
  const unknown = !(error instanceof ScreeningError) || error.outcome === 'unknown';
  if (unknown && request.fields.kind === 'chargeback') return { kind: 'unconfirmed' };
  if (!unknown) nothingWasDone(mayBeDone);
  throw retryLater(error, pauseMs(request, error));
}

function codeOf(error: unknown): { code?: string } {
  const code = error instanceof ScreeningError ? (error.code ?? error.status) : undefined;
  return code === undefined ? {} : { code: String(code) };
}

/** Growing pauses, or the one that the service asked for. */
function pauseMs(request: PortalRequest, error?: unknown): number {
  const asked = error instanceof ScreeningError ? askedPauseMs(error) : undefined;
  return beforeTheEnd(request, asked ?? grownPauseMs(FIRST_PAUSE_MS));
}

/** Never past the last moment at which it may be sent, so that it is told in time that it was too late. */
function beforeTheEnd(request: PortalRequest, pause: number): number {
  return Math.max(1, Math.min(pause, timeLeftMs(request)));
}

function timeLeftMs(request: PortalRequest): number {
  return request.notAfter === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(request.notAfter) - Date.now();
}

/**
 * A try that isn't known to have done nothing may have been done: its answer was lost, or its worker died. A try says
 * that nothing was done by telling the next one its number.
 */
function earlierTryMayBeDone(): boolean {
  const { attempt, heartbeatDetails } = activityInfo();
  return attempt > 1 && heartbeatDetails !== attempt - 1;
}

function nothingWasDone(mayBeDone: boolean): void {
  if (!mayBeDone) tellNextTry(activityInfo().attempt);
}
