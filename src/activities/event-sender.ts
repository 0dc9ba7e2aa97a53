/** Sends events to the order service, signed by Standard Webhooks. */
import fetch from 'node-fetch';
import { Webhook } from 'standardwebhooks';
import type { OrderEvent } from '../orders/messages.ts';
import { signedHeaders } from '../signed-event.ts';

/** Nobody reads what the receiver says; only its status counts. */
const MAX_REPLY_BYTES = 64 * 1024;

/** Delivers one event. @throws when the receiver doesn't answer 2xx; the words hold no address and no content */
export type EventSender = (event: OrderEvent, timeoutMs: number) => Promise<void>;

/**
 * @param url the receiver
 * @param secret its signing secret, `whsec_…`
 */
export function createEventSender(url: string, secret: string): EventSender {
  const webhook = new Webhook(secret);
  return async (event, timeoutMs) => {
    const { id, ...payload } = event;
    const body = JSON.stringify(payload);
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      size: MAX_REPLY_BYTES,
      signal: AbortSignal.timeout(timeoutMs),
      headers: signedHeaders(webhook, id, body),
    }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
    if (response?.ok !== true) {
      throw new Error(
        `the events receiver ${response === undefined ? 'did not answer' : `answered ${response.status}`}`,
      );
    }
  };
}
