import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TRANSACTION_ID } from '../server/api/fake-order-screening.ts';
import { anyText } from '../support/property.ts';
import { aFuzzedApi, ask } from './expect-harmless.ts';
import { CANARY, hostileText, mutated, PATIENCE_MS, runs } from './hostile.ts';

const SECRET = 'webhook-secret-1';
const MAX_BYTES = 64 * 1024;

const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH');
const contentType = fc.constantFrom(
  ...[undefined, 'application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  ...['text/plain', '%content_type%', '', ';', 'a', 'application/json; charset=x', `${CANARY}/x`],
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
const queryName = fc.constantFrom('id', 'invoice', 'order', '__proto__', 'secret');
const query = fc.array(fc.tuple(queryName, hostileText), { maxLength: 3 });

it('takes any method, content type and bytes as a hint of the right form, up to 64 KiB', {
  timeout: PATIENCE_MS,
}, async () => {
  const api = await aFuzzedApi();
  await fc.assert(
    fc.asyncProperty(method, contentType, query, bytes, async (verb, type, pairs, payload) => {
      const { hint } = api.orderScreening;
      hint.mockClear();
      const headers = { 'x-webhook-secret': SECRET, ...(type !== undefined && { 'content-type': type }) };
      // URLSearchParams writes halves of a character as something that can be sent.
      const url = `/v1/webhooks/default?${new URLSearchParams(pairs)}`;
      const response = await ask(api, { method: verb, url, headers, payload });
      if (verb !== 'GET' && payload.length > MAX_BYTES) {
        expect(response.statusCode).toBe(413);
        expect(hint).not.toHaveBeenCalled();
        return;
      }
      // Bytes that are no text.
      if (response.statusCode === 415) {
        expect(payload).toContain(0);
        expect(hint).not.toHaveBeenCalled();
        return;
      }
      expect(response.statusCode).toBe(202);
      expect(hint).toHaveBeenCalledOnce();
      const { source, integration, orderId, transactionId, reaches, ...more } = hint.mock.calls[0]?.[0] ?? {};
      expect({ source, integration, more }).toEqual({ source: 'webhook', integration: 'default', more: {} });
      expect(reaches?.('other')).toBe(true);
      for (const number of [orderId ?? []].flat()) expect(number).toMatch(/^[^\p{Cc}\p{Cs}]{1,64}$/u);
      for (const id of [transactionId ?? []].flat()) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    }),
    runs(600),
  );
});

it('takes nothing without the secret', { timeout: PATIENCE_MS }, async () => {
  const api = await aFuzzedApi();
  const secrets = hostileText.map((text) => text.replaceAll(/[^\x21-\x7e]/g, '').slice(0, 500));
  await fc.assert(
    fc.asyncProperty(method, secrets, bytes, async (verb, secret, payload) => {
      const url = `/v1/webhooks/default/${encodeURIComponent(secret)}`;
      expect((await ask(api, { method: verb, url, payload })).statusCode).toBe(401);
    }),
    // From the 21st on each answer is late.
    runs(20),
  );
  expect(api.orderScreening.hint).not.toHaveBeenCalled();
});
