import type { Webhook } from 'standardwebhooks';

/** @returns the headers of an event that is sent now, signed by Standard Webhooks */
export function signedHeaders(webhook: Webhook, id: string, body: string): Record<string, string> {
  const sentAt = new Date();
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': webhook.sign(id, sentAt, body),
  };
}
