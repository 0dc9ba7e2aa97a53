import { describe, expect, it, test } from 'vitest';
import { client, failureOf, OPERATIONS, PORTAL, service, withService } from './client-harness.ts';

withService();

const SCREENING = OPERATIONS.slice(0, 5);
const CREATE = OPERATIONS.slice(0, 1);
const KNOWN = OPERATIONS.slice(1);
const GATEWAY = OPERATIONS.slice(1, 2);
const UNKNOWN = { outcome: 'unknown', reason: 'malformed-reply' };
const WRONG_KEY = { outcome: 'refused', reason: 'forbidden' };
const NOT_FOUND = { outcome: 'refused', reason: 'not-found' };
const PAGE = '<html><h1>Blocked</h1></html>';
const errors = (...Errors: string[]) => ({ Errors });
const SAID = errors('In words');
const said = (outcome: string, reason: string, more: { code?: number; retryAfterMs?: number } = {}) => ({
  words: SAID.Errors,
  outcome,
  reason,
  ...more,
});
const IN_SECONDS = { 'retry-after': '7' };

test.each<
  [status: number, body: unknown, expected: object, of: typeof OPERATIONS, headers?: Record<string, string>]
>([
  [400, SAID, said('refused', 'bad-request'), OPERATIONS],
  [405, SAID, said('unknown', 'malformed-reply'), OPERATIONS],
  [408, SAID, said('unknown', 'timeout'), OPERATIONS],
  [422, SAID, said('refused', 'bad-request'), OPERATIONS],
  [429, SAID, said('not-done', 'rate-limited'), OPERATIONS],
  [429, SAID, said('not-done', 'rate-limited', { retryAfterMs: 7_000 }), OPERATIONS, IN_SECONDS],
  [500, SAID, said('unknown', 'http-5xx'), OPERATIONS],
  [503, SAID, said('unknown', 'http-5xx', { retryAfterMs: 7_000 }), OPERATIONS, IN_SECONDS],
  [504, SAID, said('unknown', 'timeout'), OPERATIONS],
  [302, SAID, said('unknown', 'redirect'), OPERATIONS, { location: '/elsewhere' }],
  ...[403, '404', 302, 199, 0, '0'].map((code): [number, object, object, typeof OPERATIONS] => [
    200,
    { code, message: 'In words' },
    said('refused', 'portal-refused', { code: Number(code) }),
    PORTAL,
  ]),
  [200, { code: '1042', message: 'In words' }, said('unknown', 'portal-5xx', { code: 1042 }), PORTAL],
  [200, { code: '500', message: 'In words' }, said('unknown', 'portal-5xx', { code: 500 }), PORTAL],
  [200, { code: 408, message: 'In words' }, said('unknown', 'timeout', { code: 408 }), PORTAL],
  [200, { code: '408', message: 'In words' }, said('unknown', 'timeout', { code: 408 }), PORTAL],
  [
    200,
    { code: 429, message: 'In words' },
    said('not-done', 'rate-limited', { code: 429, retryAfterMs: 7_000 }),
    PORTAL,
    IN_SECONDS,
  ],
  ...[400, 401, 403, 404, 409].flatMap((status): [number, object, object, typeof OPERATIONS][] => [
    [status, { code: 500, message: 'Not Authorized' }, { outcome: 'unknown', code: 500 }, PORTAL],
    [status, { code: '408', message: 'In words' }, said('unknown', 'timeout', { code: 408 }), PORTAL],
    [status, { code: 429, message: 'In words' }, said('not-done', 'rate-limited', { code: 429 }), PORTAL],
  ]),
  [405, { code: 429, message: 'In words' }, said('unknown', 'malformed-reply'), PORTAL],
  [200, { code: 'fine', message: 'In words' }, said('unknown', 'malformed-reply'), PORTAL],
  [200, { message: 'In words' }, said('unknown', 'malformed-reply'), PORTAL],
  [200, SAID, said('refused', 'bad-request'), GATEWAY],
  [200, errors('Not Authorized'), WRONG_KEY, GATEWAY],
  [200, errors(''), UNKNOWN, GATEWAY],
  [202, SAID, UNKNOWN, GATEWAY],
  ...[400, 404, 405, 422].map((status): [number, string, object, typeof OPERATIONS] => [
    status,
    PAGE,
    UNKNOWN,
    OPERATIONS,
  ]),
  ...[PAGE, {}, errors(), { Errors: 'Blocked' }, { message: 'Forbidden' }, { code: 403 }].flatMap(
    (body): [number, unknown, object, typeof OPERATIONS][] => [
      [401, body, WRONG_KEY, SCREENING],
      [403, body, WRONG_KEY, SCREENING],
      [403, body, UNKNOWN, PORTAL],
    ],
  ),
  [403, errors('Not Authorized'), WRONG_KEY, OPERATIONS],
  [403, errors('not authorized.'), WRONG_KEY, OPERATIONS],
  // Only the portal says it with code and message.
  [400, { code: 400, message: 'Bad Request' }, UNKNOWN, SCREENING],
  [404, errors('Transaction Not Found'), NOT_FOUND, OPERATIONS],
  [404, errors('transaction not found.'), NOT_FOUND, OPERATIONS],
  [404, errors('Not Found'), UNKNOWN, KNOWN],
  [404, errors('no Route matched'), UNKNOWN, KNOWN],
  [404, errors('Transaction Not Found in this cache'), UNKNOWN, KNOWN],
  [404, errors('Not Found'), NOT_FOUND, CREATE],
  [404, { code: 404, message: 'No such order' }, NOT_FOUND, PORTAL],
])('HTTP %i with %j is %j, and is asked for once', async (status, body, expected, operations, headers) => {
  service.answerJson(status, body, headers);
  for (const [operation, call] of operations) {
    expect(await failureOf(call(client()))).toMatchObject({ operation, status, ...expected });
  }
  expect(service.seen).toHaveLength(operations.length);
});

describe.each(PORTAL)('%s', (_operation, call) => {
  const asHttp = async (status: number, body: object) => {
    service.answerJson(status, body);
    return failureOf(call(client()));
  };

  // The interface leaves this open: docs/assumptions.md.
  test('is done after HTTP 200 with any 2xx code', async () => {
    for (const code of [200, '200', 201, '204', 299]) {
      service.answerJson(200, { code, message: 'Accepted' });
      expect(await call(client())).toEqual({ code: Number(code), message: 'Accepted' });
    }
  });

  test.each([
    'Not Authorized',
    'You are not authorized',
    'Unauthorized. A token is required in order to use this API',
    'Invalid token',
    'Invalid nf_token.',
    'Unknown API key',
    'The API-key has expired',
  ])('knows a wrong key by «%s»', async (message) => {
    expect(await asHttp(403, { code: 403, message })).toMatchObject(WRONG_KEY);
    expect(await asHttp(200, { code: '403', message })).toMatchObject({ ...WRONG_KEY, code: 403 });
    expect(await asHttp(401, { code: 'NOT_AUTHORIZED', message: 'No' })).toMatchObject(WRONG_KEY);
  });

  test.each([
    'Transaction is not covered',
    'This transaction is not authorized for a chargeback',
    'Not authorized to cancel this order',
    'You are not authorized to report fraud',
    'A transaction can be canceled only within 5 days of its screening.',
  ])('is refused by «%s», whatever the status', async (message) => {
    const refused = { outcome: 'refused', words: [message], code: 403 };
    expect(await asHttp(403, { code: 403, message })).toMatchObject({ ...refused, reason: 'bad-request' });
    expect(await asHttp(200, { code: 403, message })).toMatchObject({ ...refused, reason: 'portal-refused' });
  });

  it('is refused by `Errors` also where HTTP 200 and no code come with them', async () => {
    const words = ['Transaction is not covered'];
    const refused = { outcome: 'refused', reason: 'portal-refused', words };
    expect(await asHttp(200, { Errors: words })).toMatchObject(refused);
    expect(await asHttp(200, errors('Not Authorized'))).toMatchObject(WRONG_KEY);
    expect(await asHttp(200, errors(''))).toMatchObject(UNKNOWN);
    expect(await asHttp(202, { Errors: words })).toMatchObject(UNKNOWN);
    expect(await asHttp(200, { code: 409 })).toMatchObject({ ...UNKNOWN, code: 409 });
  });
});
