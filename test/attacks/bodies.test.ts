import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readScreenRequest } from '../../src/client/read-requests.ts';
import { createPayloadCodec } from '../../src/codec/index.ts';
import { createLog } from '../../src/platform/log.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { BODY_LIMITS, limitError } from '../../src/server/api/define-route.ts';
import { anIntegration, finding } from '../fixtures/integrations.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { expectProblem } from '../fuzz/expect-harmless.ts';
import { aCheckoutAnswer, anApi, fakeOrderScreening } from '../server/api/fake-order-screening.ts';

const MIB = 1024 * 1024;
/** As much as the API takes. */
const MOST_BYTES = 256 * 1024;
const { values: VALUES, depth: DEPTH, keys: KEYS } = BODY_LIMITS;
/** What a body may cost of the event loop, in milliseconds. */
const MOST_MS = 50;
const ROUNDS = 6;

const SCREENING = '/v1/orders/order-1/screening';
const CODEC = '/codec/encode';
const WEBHOOK = '/v1/webhooks/default/webhook-secret-1';

const list = (count: number, one: string) => `[${Array(count).fill(one).join(',')}]`;
const items = (count: number, one: string) => `{"transaction":{"lineItems":${list(count, one)}}}`;
/** A valid order with something in it. */
const order = (fields: object) => JSON.stringify({ transaction: { ...aTransaction(), ...fields } });
const noted = (words: string) => order({ order: { referring_url: words } });
const payloads = (count: number, one: object) => JSON.stringify({ payloads: Array(count).fill(one) });
const base64 = (bytes: number) => Buffer.alloc(bytes, 'a').toString('base64');
const keysOf = (count: number, name = (index: number) => `k${index}`) =>
  `{${Array.from({ length: count }, (_, index) => `"${name(index)}":1`).join(',')}}`;
const brackets = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const HALF = MOST_BYTES / 2 - 1_000;
/** Two marks in an order that takes long to sort. */
const MARKS = `1${'\u0315'.repeat(HALF / 2 - 1_000)}${'\u0316'.repeat(HALF / 2 - 1_000)}`;

/** Within the limits, or beyond them; each as large as it may be. */
const BODIES: readonly [what: string, url: string, status: number, body: string][] = [
  ['a list of ones in the place of line items', SCREENING, 422, items(VALUES - 10, '1')],
  ['the same as large as may be', SCREENING, 422, items(HALF, '1')],
  ['line items with nothing in them', SCREENING, 200, order({ lineItems: Array(VALUES / 2 - 100).fill({}) })],
  ['line items as large as may be', SCREENING, 200, order({ lineItems: Array(500).fill(anItem()) })],
  ['unknown keys', SCREENING, 422, items(99, keysOf(KEYS - 1))],
  ['unknown keys, each another', SCREENING, 200, order({ userFields: manyKeys() })],
  ['one key forty thousand times', SCREENING, 422, `{"transaction":${keysOf(40_000, () => 'a')}}`],
  ['ten thousand keys', SCREENING, 422, keysOf(10_000)],
  ['lists in lists', SCREENING, 422, `{"transaction":${brackets(HALF)}}`],
  ['objects in objects', SCREENING, 422, `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
  ['objects that nobody closes', SCREENING, 400, '{"a":'.repeat(50_000)],
  ['a long string', SCREENING, 200, noted('x'.repeat(MOST_BYTES - 2_000))],
  ['a string of quotes', SCREENING, 200, noted('"'.repeat(HALF))],
  ['a string that nobody closes', SCREENING, 400, `{"transaction":"${'\\"'.repeat(HALF)}`],
  ['a string of digits with spaces', SCREENING, 200, noted('4 '.repeat(HALF))],
  [
    'short texts of digits',
    SCREENING,
    200,
    order({ userFields: { a: Array(9_900).fill('4111 1111 1112') } }),
  ],
  ['a list of short digits', SCREENING, 422, items(19_800, '"4111 11"')],
  ['a long e-mail address', SCREENING, 422, order({ customer: { email: 'a@'.repeat(HALF) } })],
  ['a phone number with marks', SCREENING, 422, order({ billTo: { phoneNumber: MARKS } })],
  ['an e-mail address with marks', SCREENING, 422, order({ customer: { email: `a@${MARKS}` } })],
  ['a website with marks', SCREENING, 422, order({ merchant: { website: MARKS } })],
  ['encoded digits', SCREENING, 200, noted('%2531%FF'.repeat(HALF / 4 - 1_000))],
  ['a note with marks', SCREENING, 200, noted(MARKS)],
  ['a key with marks', SCREENING, 200, order({ [MARKS]: MARKS.slice(0, 9) })],
  ['a long key', SCREENING, 200, order({ ['9'.repeat(MOST_BYTES - 2_000)]: 1 })],
  ['a large number', SCREENING, 422, `{"transaction":{"amount":${'9'.repeat(MOST_BYTES - 100)}}}`],
  ['white space', SCREENING, 400, ' '.repeat(MOST_BYTES)],
  ['a long reason', '/v1/orders/order-1/cancel', 422, JSON.stringify({ reason: '4 '.repeat(HALF) })],
  ['payloads that are none', CODEC, 422, `{"payloads":${list(2_000, '1')}}`],
  ['as many payloads as may be', CODEC, 200, payloads(2_000, { data: base64(1_500) })],
  ['more payloads than may be', CODEC, 422, payloads(2_001, {})],
  ['a payload as large as may be', CODEC, 200, payloads(1, { data: base64(3 * MIB - 100) })],
  ['a payload that is larger', CODEC, 413, payloads(1, { data: base64(3 * MIB) })],
  ['a webhook that is a list', WEBHOOK, 202, list(32_000, '1')],
  ['a webhook of fields that hold lists', WEBHOOK, 202, 'a=[1&'.repeat(12_000)],
  ['a webhook of half an object', WEBHOOK, 202, '{"a":'.repeat(12_000)],
];

const CANCEL_FORM = '/orders/order-1/cancel';
const FORMS: typeof BODIES = [
  [
    'a form of names, each another',
    CANCEL_FORM,
    303,
    Array.from({ length: 4_422 }, (_, index) => index.toString(36)).join('&'),
  ],
  ['a form of one name again and again', CANCEL_FORM, 303, 'a&'.repeat(8_000)],
];

function anItem() {
  const words = 'w'.repeat(80);
  const texts = { sku: words, manufacturer: words, name: words, category: words, notes: words };
  return { ...texts, price: 1, quantity: 1 };
}

function manyKeys() {
  const fields = (count: number, name: string, value: (at: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, value(at)]));
  return fields(KEYS - 5, 'k', (at) => fields(45, `n${at}-`, () => 'v'));
}

/** The API over a fake that reads what is screened; without the check against the contract, which costs more. */
async function anApiThatReads() {
  const orderScreening = fakeOrderScreening();
  const findIntegration = finding(anIntegration());
  orderScreening.screen.mockImplementation(async (request) => {
    readScreenRequest(request, findIntegration);
    return aCheckoutAnswer();
  });
  const codec = createPayloadCodec([{ id: 'a', key: randomBytes(32) }]);
  const app = await createApi({
    orderScreening,
    apiKeys: { current: [] },
    maxRps: 1_000,
    webhookSecrets: ['webhook-secret-1'],
    codec: { codec, origins: [] },
    log: createLog('test', 'info', { write: () => undefined }),
  });
  onTestFinished(() => app.close());
  return app;
}

/**
 * Others are answered between two turns of the event loop. Of each turn the time is counted that this process computes:
 * a busy machine stops it for longer, which says nothing about the body.
 * @returns the longest turn, in milliseconds, and what the call brought
 */
async function longestTurn<T>(call: () => Promise<T>): Promise<[ms: number, brought: T]> {
  let longest = 0;
  let before = process.cpuUsage();
  let measuring = true;
  const turn = () => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.cpuUsage();
    if (measuring) setImmediate(turn);
  };
  setImmediate(turn);
  const brought = await call();
  await new Promise((resolve) => setImmediate(resolve));
  measuring = false;
  return [longest, brought];
}

describe('a body', () => {
  it.each([...BODIES, ...FORMS])(
    'costs little of the event loop: %s',
    async (_what, url, status, payload) => {
      const app = await anApiThatReads();
      const type = status === 303 ? 'application/x-www-form-urlencoded' : 'application/json';
      const headers = { 'content-type': type, 'sec-fetch-site': 'same-origin' };
      let least = Infinity;
      // The first ones are compiled, and any may meet a collection of what was before it.
      for (let round = 0; round < ROUNDS && least >= MOST_MS; round += 1) {
        const [ms, response] = await longestTurn(() => app.inject({ method: 'POST', url, headers, payload }));
        expect(response.statusCode, response.body.slice(0, 200)).toBe(status);
        if (status >= 400) expectProblem(response);
        least = Math.min(least, ms);
      }
      expect(least).toBeLessThan(MOST_MS);
    },
  );
});

describe('the limits of a body', () => {
  it.each([
    ['as many values as may be', list(VALUES - 1, '1'), undefined],
    ['one more', list(VALUES, '1'), 'must hold at most 10,000 values'],
    ['as many fields as may be', keysOf(KEYS), undefined],
    ['one more', keysOf(KEYS + 1), 'must have at most 200 fields in one object'],
    ['fields of several objects', list(3, keysOf(KEYS)), undefined],
    ['as many levels as may be', brackets(DEPTH), undefined],
    ['one more', brackets(DEPTH + 1), 'must be nested at most 20 levels deep'],
    ['many lists side by side', list(1_000, '[]'), undefined],
    ['levels that would overflow a stack', brackets(100_000), 'must be nested at most 20 levels deep'],
  ])('are counted before it is read: %s', (_what, text, fault) => {
    expect(limitError(JSON.parse(text))).toEqual(fault);
  });

  it('let 100 faults be listed, and the reading ends with them', () => {
    const lineItems = Array(5_000).fill({ sku: 1 });
    const request = { orderId: 'order-1', transaction: { ...aTransaction(), lineItems } };
    const errors = expect.objectContaining({ length: 100 });
    const message = 'The request has 100 or more errors; the first 100 are listed';
    expect(() => readScreenRequest(request, finding(anIntegration()))).toThrow(
      expect.objectContaining({ message, details: { errors } }),
    );
  });
});

describe('a body that nobody wants', () => {
  it.each([
    ['an address that nobody has', 'POST /v1/nowhere', '', 404],
    ['a method that the address lacks', 'PUT /v1/orders/order-1/cancel', '', 404],
    ['a method that a webhook lacks', 'DELETE /v1/webhooks/default/webhook-secret-1', '', 404],
    ...['gzip', 'br', 'deflate', 'zstd', 'gzip, identity', 'x'].map(
      (encoding) =>
        [`a body in ${encoding}`, 'POST /v1/card-refs', `Content-Encoding: ${encoding}\r\n`, 415] as const,
    ),
    ['a wrong webhook secret', 'POST /v1/webhooks/default/wrong', '', 401],
  ] as const)('is not waited for: %s', async (_what, request, header, status) => {
    const { app } = await anApi();
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
    const socket = connect(Number(port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const type = 'Content-Type: application/json\r\nContent-Length: 1000\r\n';
    socket.write(`${request} HTTP/1.1\r\nHost: localhost\r\n${type}${header}\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});
