import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TRANSACTION_ID } from '../api/fake-order-screening.ts';
import { anyText } from '../support/property.ts';
import { aFuzzedApi, ask } from './expect-harmless.ts';
import { CANARY, hostileText, mutated, PATIENCE_MS, runs } from './hostile.ts';

const SECRET = 'webhook-secret-1';
const MAX_BYTES = 64 * 1024;

const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH');
const contentType = fc.oneof(
  fc.constantFrom(
    undefined,
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data',
  ),
  fc.constantFrom('%content_type%', '', ';', 'a', 'application/json; charset=x', `${CANARY}/x`),
);
const news = { id: `https://x.example/${TRANSACTION_ID}`, decision: 'pass', invoiceNumber: '#1001' };
const bytes: fc.Arbitrary<Buffer> = fc.oneof(
  mutated(news).map((body) => Buffer.from(JSON.stringify(body) ?? '')),
  hostileText.map((text) => Buffer.from(`{"id":${text},"decision":pass,"invoiceNumber":${text}}`)),
  hostileText.map((text) => Buffer.from(`{"id":${text}${TRANSACTION_ID},"decision":%status%}`)),
  hostileText.map((text) => Buffer.from(`id=${text}&invoiceNumber=${text}&order=${TRANSACTION_ID}`)),
  anyText(300).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  fc
    .tuple(fc.constantFrom('{"a":', '[', '&a={', '"', 'a:', '%', '-', '\0'), fc.integer({ min: -2, max: 2 }))
    .map(([piece, more]) => Buffer.alloc(MAX_BYTES + more, piece)),
);
const query = fc.array(
  fc.tuple(fc.constantFrom('id', 'invoice', 'order', '__proto__', 'secret'), hostileText),
  {
    maxLength: 3,
  },
);

function addressOf(path: string, pairs: [string, string][]): string {
  // URLSearchParams writes halves of a character as something that can be sent.
  return `${path}?${new URLSearchParams(pairs)}`;
}

it('takes any method, content type and bytes as a hint of the right form, up to 64 KiB', {
  timeout: PATIENCE_MS,
}, async () => {
  const api = await aFuzzedApi();
  await fc.assert(
    fc.asyncProperty(method, contentType, query, bytes, async (verb, type, pairs, payload) => {
      const { hint } = api.orderScreening;
      hint.mockClear();
      const headers = { 'x-webhook-secret': SECRET, ...(type !== undefined && { 'content-type': type }) };
      const url = addressOf('/v1/webhooks/default', pairs);
      const response = await ask(api, { method: verb, url, headers, payload });
      if (verb !== 'GET' && payload.length > MAX_BYTES) {
        expect(response.statusCode).toBe(413);
        expect(hint).not.toHaveBeenCalled();
        return;
      }
      expect(response.statusCode).toBe(202);
      expect(hint).toHaveBeenCalledOnce();
      const { source, integration, orderId, transactionId, decision, ...more } =
        hint.mock.calls[0]?.[0] ?? {};
      expect({ source, integration, more }).toEqual({ source: 'webhook', integration: 'default', more: {} });
      expect(orderId ?? 'x').toMatch(/^[^\p{Cc}\p{Cs}]{1,64}$/u);
      expect(transactionId ?? TRANSACTION_ID).toMatch(/^[0-9a-f-]{36}$/i);
      expect(decision ?? 'pass').toMatch(/^(?:pass|fail|review|fraudulent|error)$/);
    }),
    runs(600),
  );
});

it('takes nothing without the secret', { timeout: PATIENCE_MS }, async () => {
  const api = await aFuzzedApi();
  const secrets = fc.oneof(
    hostileText,
    fc.constantFrom('', 'webhook-secret', `${SECRET} `, '__proto__', 'undefined'),
  );
  await fc.assert(
    fc.asyncProperty(method, secrets, bytes, fc.boolean(), async (verb, secret, payload, inPath) => {
      const text = secret.replaceAll(/[^\x21-\x7e]/g, '').slice(0, 500);
      fc.pre(text !== SECRET);
      const url = inPath ? `/v1/webhooks/default/${encodeURIComponent(text)}` : '/v1/webhooks/default';
      const headers = inPath ? {} : { 'x-webhook-secret': text };
      const response = await ask(api, { method: verb, url, headers, payload });
      expect(response.statusCode).toBe(401);
      expect(api.orderScreening.hint).not.toHaveBeenCalled();
    }),
    runs(200),
  );
});

it('takes nothing by any other method', async () => {
  const api = await aFuzzedApi();
  for (const verb of ['DELETE', 'OPTIONS', 'TRACE']) {
    const url = `/v1/webhooks/default/${SECRET}`;
    const response = await ask(api, { method: verb as 'DELETE', url });
    expect(response.statusCode).toBe(404);
  }
  expect(api.orderScreening.hint).not.toHaveBeenCalled();
});
