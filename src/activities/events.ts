/** Activities that deliver signed events to the events receiver, in order, and delete cards from the stash. */
import { log } from '@temporalio/activity';
import { Webhook } from 'standardwebhooks';
import type { OrderEvent } from '../contract/messages.ts';
import { type Instant, latest } from '../contract/words.ts';
import { MACHINE, type Machine, readRetryAfter, requestReason } from '../screening-service/index.ts';
import { type ActivityWorld, type EventSender, senderOf } from './activity-world.ts';
import { noteDelivery } from './metrics.ts';
import type { Clock, ServerClock } from './server-clock.ts';
import {
  askedPauseMs,
  earlierHeartbeat,
  grownPauseMs,
  sendHeartbeat,
  tryAgain,
  waitLonger,
} from './tries.ts';

/** Timeouts of one delivery and of all deliveries of one attempt. Both are shorter than the activity's, so that attempts don't overlap. */
const EACH_MS = 15_000;
const ALL_MS = 30_000;
/** The pauses after attempts that delivered nothing. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 6 * 3_600_000;
const PAUSE_FACTOR = 3;
/** The pause after an attempt that delivered an event: the receiver is back, so the pauses no longer grow. */
const BACK_PAUSE_MS = 2_000;
/** A receiver that the settings lack is probably on its way: a rollout brings it back. */
const NO_RECEIVER_PAUSE_MS = 60_000;

/** @param clock its time signs the events: a receiver refuses what is signed by a clock that is minutes off */
export function eventActivities(world: ActivityWorld, clock: ServerClock) {
  return {
    /** Delivers the events in order. A retry continues after the last delivered event. */
    async deliverEvents(events: OrderEvent[], { time }: Clock): Promise<object> {
      // The sweep's events have sequence 0.
      const { arrived = -1 } = earlierHeartbeat();
      const until = world.machine.elapsed() + ALL_MS;
      let pauseMs: number | undefined;
      // The process's clock may stand still while the machine is suspended; the attempt's own may be behind by what it waited.
      const now = () => latest(time(), clock.now());
      for (const event of events) {
        if (event.sequence <= arrived) continue;
        await deliver(world, now, event, timeFor(until - world.machine.elapsed()), pauseMs);
        pauseMs = BACK_PAUSE_MS;
        sendHeartbeat({ arrived: event.sequence });
      }
      return {};
    },

    async forgetCard({ cardRef }: { cardRef: string }): Promise<object> {
      try {
        await world.cards.forget(cardRef);
        return {};
      } catch {
        // A driver's error message may contain an address.
        throw tryAgain('card-stash', 'the card stash did not answer');
      }
    },
  };
}

/** @returns the timeout of the next delivery in milliseconds. @throws if this attempt has no time left: the next one continues */
function timeFor(left: number): number {
  if (left < 1_000) throw waitLonger('more-to-deliver', 'the next attempt delivers the rest', 1);
  return Math.min(EACH_MS, left);
}

/** @param pauseMs the pause after a failure, unless the receiver asks for one; absent: they grow */
async function deliver(
  world: ActivityWorld,
  now: () => Instant,
  event: OrderEvent,
  timeoutMs: number,
  pauseMs?: number,
): Promise<void> {
  const { integration } = event;
  const send = senderOf(world, integration);
  if (send === undefined) {
    const words = `no events receiver of integration «${integration}» is configured`;
    noteDelivery(event, false);
    throw tryAgain('no-receiver', words, pauseMs ?? NO_RECEIVER_PAUSE_MS);
  }
  try {
    await send(event, timeoutMs, now());
    noteDelivery(event, true);
  } catch (error) {
    noteDelivery(event, false);
    const { reason, address } =
      error instanceof NotTaken ? error : { reason: 'unexpected', address: undefined };
    log.warn('the events receiver did not accept an event', { integration, reason, address });
    const askedMs = error instanceof NotTaken ? askedPauseMs(error, LONGEST_PAUSE_MS) : undefined;
    const message = error instanceof Error ? error.message : 'not delivered';
    const grownMs = grownPauseMs(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, PAUSE_FACTOR);
    throw tryAgain('not-delivered', message, askedMs ?? pauseMs ?? grownMs);
  }
}

/** Limit of the receiver's reply, which is discarded: only its status counts. */
const MAX_REPLY_BYTES = 64 * 1024;

/**
 * @param url the receiver
 * @param secrets the signing secrets, `whsec_…`. The event is signed with each, so a receiver needs only one of them.
 * @param machine defaults to that of this process
 */
export function createEventSender(
  url: string,
  secrets: readonly string[],
  machine: Machine = MACHINE,
): EventSender {
  return async (event, timeoutMs, now) => {
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
        headers: signedHeaders(secrets, id, body, new Date(now)),
      });
      await response.arrayBuffer().catch(() => undefined);
      const { ok, status, headers } = response;
      const retryAfterMs = readRetryAfter(headers.get('retry-after'), machine.now());
      if (!ok) throw new NotTaken(`answered ${status}`, `http-${status}`, url, retryAfterMs);
    } catch (error) {
      if (error instanceof NotTaken) throw error;
      throw new NotTaken('did not answer', late.signal.aborted ? 'timeout' : requestReason(error), url);
    } finally {
      inTime();
    }
  };
}

/** The receiver did not accept an event. The message contains no address and no content. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';
  readonly reason: string;
  /** Host and port only: the rest of the address may be secret. */
  readonly address: string;
  readonly retryAfterMs: number | undefined;

  constructor(what: string, reason: string, url: string, retryAfterMs?: number) {
    super(`the events receiver ${what}`);
    this.reason = reason;
    this.address = new URL(url).host;
    this.retryAfterMs = retryAfterMs;
  }
}

/** @returns the headers of an event, with a Standard Webhooks signature for each secret */
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

/** @returns the id as a header value: everything but printable ASCII is percent-encoded, and so is `%`, so that ids stay distinct */
function inHeader(id: string): string {
  return id.replace(/[^\x20-\x7e]|%/gu, (one) =>
    [...Buffer.from(one)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
