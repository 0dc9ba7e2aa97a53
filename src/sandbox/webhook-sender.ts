import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Fault, FaultPlan } from './fault-plan.ts';
import type { Ledger } from './ledger.ts';
import type { TransactionRecord } from './model.ts';

/** Timeout of a delivery, and the longest time that a `reordered` webhook waits for the next one to overtake it. */
const TIME_OUT_MS = 10_000;
const OVERTAKEN_AFTER_MS = 2_000;

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of an HTTP header');
/** Node throws an error for a header with other characters. */
export const headerValue = z
  .string()
  .regex(/^[\t\x20-\x7e]*$/, 'must be ASCII text, since it is sent in a header');

export const webhookConfigSchema = z.strictObject({
  /** Its placeholders are replaced too, percent-encoded. */
  url: z.url({ protocol: /^https?$/ }).nullable(),
  template: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH']),
  headers: z.record(headerName, headerValue),
  enabled: z.boolean(),
});
type WebhookConfig = z.infer<typeof webhookConfigSchema>;

/** The screening service's known default: no headers, and a template that is not valid JSON once its values are filled in. */
export const DEFAULT_WEBHOOKS: WebhookConfig = {
  url: null,
  template: '{"id":%transaction_url%,"decision":%status%,"invoiceNumber":%invoice_number%}',
  method: 'POST',
  headers: {},
  enabled: true,
};

type News = Pick<TransactionRecord, 'id' | 'invoiceNumber' | 'decision'>;

export type WebhookSender = ReturnType<typeof createWebhookSender>;

/** Sends webhooks about changed decisions, once and without retries, and records each delivery in the ledger. */
export function createWebhookSender(config: WebhookConfig, ledger: Ledger, faults: FaultPlan) {
  const closing = new AbortController();
  const { signal } = closing;
  // Each active webhook adds a listener, and a chaos run has many.
  setMaxListeners(0, signal);
  /** Callbacks that release waiting `reordered` webhooks once the next one was sent. */
  const overtaken: (() => void)[] = [];

  async function play(news: News, fault: Fault | undefined): Promise<void> {
    if (fault?.kind === 'lost') {
      enter(news, fault);
      return;
    }
    if (fault?.delayMs) await sleep(fault.delayMs, undefined, { signal });
    if (fault?.kind === 'reordered') {
      const next = new Promise<void>((resolve) => overtaken.push(resolve));
      await Promise.race([next, sleep(OVERTAKEN_AFTER_MS, undefined, { signal })]);
    }
    if (fault?.kind === 'forged') {
      await deliver({ ...news, decision: news.decision === 'pass' ? 'fail' : 'pass' }, fault);
      await deliver({ ...news, id: randomUUID(), decision: 'pass' }, fault);
    }
    await deliver(news, fault);
    if (fault?.kind === 'doubled') await deliver(news, fault);
    if (fault?.kind !== 'reordered') for (const release of overtaken.splice(0)) release();
  }

  async function deliver(news: News, fault: Fault | undefined): Promise<void> {
    const entry = enter(news, fault);
    const { url, template, method, headers } = sender.config;
    if (url === null) return;
    const target = new URL(fill(url, news, encodeURIComponent));
    entry.outcome.status = await post(target, { method, headers, signal }, fill(template, news));
    entry.committed = entry.outcome.status !== null && entry.outcome.status < 300;
  }

  function enter({ id: transactionId, invoiceNumber, decision }: News, fault: Fault | undefined) {
    const entry = ledger.open('webhook', 'webhook', { transactionId, invoiceNumber });
    entry.outcome.decision = decision;
    entry.fault = fault?.kind ?? null;
    return entry;
  }

  const sender = {
    config,
    /** Sends the webhook about a transaction's decision in the background. */
    announce({ id, invoiceNumber, decision }: TransactionRecord): void {
      if (!sender.config.enabled || sender.config.url === null) return;
      const fault = faults.pick('webhook', { transactionId: id, invoiceNumber });
      play({ id, invoiceNumber, decision }, fault).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    },
    close: () => closing.abort(),
  };
  return sender;
}

function fill(template: string, news: News, encode = (value: string) => value): string {
  const values: Record<string, string> = {
    transaction_url: `https://portal.example/transactions/${news.id}`,
    status: news.decision,
    invoice_number: news.invoiceNumber ?? '',
  };
  return template.replace(/%(transaction_url|status|invoice_number)%/g, (_, name: string) =>
    encode(values[name] ?? ''),
  );
}

/** Returns the receiver's HTTP status, or null without a reply. Uses node:http because fetch adds headers of its own. */
function post(
  url: URL,
  options: { method: string; headers: Record<string, string>; signal: AbortSignal },
  body: string,
): Promise<number | null> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const sent = request(url, { ...options, timeout: TIME_OUT_MS }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? null));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(null));
    sent.end(options.method === 'GET' ? undefined : body);
  });
}
