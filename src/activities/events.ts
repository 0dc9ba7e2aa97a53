/** Sends events to the order service, in order and signed; and forgets the card. */
import { log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { Webhook } from 'standardwebhooks';
import type { OrderEvent } from '../contract/messages.ts';
import { MACHINE, type Machine, requestReason } from '../screening/index.ts';
import { type ActivityWorld, type EventSender, senderOf } from './activity-world.ts';
import { noteDelivery } from './metrics.ts';
import { tellNextTry, told, tryAgain, waitLonger } from './tries.ts';

/** One event's delivery, and all that one try delivers: shorter than the activity may take, so that no two overlap. */
const EACH_MS = 15_000;
const ALL_MS = 30_000;

export function eventActivities(world: ActivityWorld) {
  return {
    /** Delivers in order; a second call goes on after the last event that arrived. */
    async deliverEvents(events: OrderEvent[]): Promise<object> {
      // The sweep's events have sequence 0.
      const { arrived = -1 } = told();
      const until = world.machine.now() + ALL_MS;
      for (const event of events) {
        if (event.sequence <= arrived) continue;
        await deliver(world, event, timeFor(until - world.machine.now()));
        tellNextTry({ arrived: event.sequence });
      }
      return {};
    },

    async forgetCard({ cardRef }: { cardRef: string }): Promise<object> {
      try {
        await world.cards.forget(cardRef);
        return {};
      } catch {
        // What a driver throws may name its address.
        throw tryAgain('card-stash', 'the card stash did not answer');
      }
    },
  };
}

/** @returns milliseconds for the next delivery. @throws when this try is over: the next one goes on */
function timeFor(left: number): number {
  if (left < 1_000) throw waitLonger('more-to-deliver', 'the next try delivers the rest', 1);
  return Math.min(EACH_MS, left);
}

async function deliver(world: ActivityWorld, event: OrderEvent, timeoutMs: number): Promise<void> {
  const send = senderOf(world, event.integration);
  if (send === undefined) {
    throw ApplicationFailure.retryable('no events receiver is configured any more', 'no-receiver');
  }
  try {
    await send(event, timeoutMs);
    noteDelivery(event, true);
  } catch (error) {
    noteDelivery(event, false);
    sayNotTaken(event.integration, error);
    throw ApplicationFailure.retryable(
      error instanceof Error ? error.message : 'not delivered',
      'not-delivered',
    );
  }
}

function sayNotTaken(integration: string, error: unknown): void {
  const { reason, address } =
    error instanceof NotTaken ? error : { reason: 'unexpected', address: undefined };
  log.warn('the receiver of events did not take an event', { integration, reason, address });
}

/** Nobody reads what the receiver says; only its status counts. */
const MAX_REPLY_BYTES = 64 * 1024;

/**
 * @param url the receiver
 * @param secrets the signing secrets, `whsec_…`: a receiver that knows one of them takes the event
 * @param machine the one of this process unless given
 */
export function createEventSender(
  url: string,
  secrets: readonly string[],
  machine: Machine = MACHINE,
): EventSender {
  return async (event, timeoutMs) => {
    const { id, ...payload } = event;
    const body = JSON.stringify(payload);
    const late = new AbortController();
    const inTime = machine.after(timeoutMs, () => late.abort());
    try {
      const response = await machine.fetch(url, {
        method: 'POST',
        body,
        redirect: 'manual',
        size: MAX_REPLY_BYTES,
        signal: late.signal,
        headers: signedHeaders(secrets, id, body, new Date(machine.now())),
      });
      await response.arrayBuffer().catch(() => undefined);
      const { ok, status } = response;
      if (!ok) throw new NotTaken(`answered ${status}`, `http-${status}`, url);
    } catch (error) {
      if (error instanceof NotTaken) throw error;
      throw new NotTaken('did not answer', late.signal.aborted ? 'timeout' : requestReason(error), url);
    } finally {
      inTime();
    }
  };
}

/** An event that the receiver did not take. Its words hold no address and no content. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';
  readonly reason: string;
  /** Host and port: the rest of an address may be secret. */
  readonly address: string;

  constructor(what: string, reason: string, url: string) {
    super(`the events receiver ${what}`);
    this.reason = reason;
    this.address = new URL(url).host;
  }
}

/** @returns the headers of an event that is sent now, signed by Standard Webhooks with each of the secrets */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  body: string,
  sentAt: Date,
): Record<string, string> {
  const webhookId = inHeader(id);
  return {
    'content-type': 'application/json',
    'webhook-id': webhookId,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(webhookId, sentAt, body)).join(' '),
  };
}

/** @returns an id as a header can carry it: what isn't printable ASCII is percent-encoded, and `%` with it, so that two ids stay two */
function inHeader(id: string): string {
  return id.replace(/[^\x20-\x7e]|%/gu, (one) =>
    [...Buffer.from(one)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
