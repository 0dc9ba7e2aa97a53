import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import { expectProblem } from '../fuzz/expect-harmless.ts';
import { eventually } from '../support/index.ts';
import { anApi, type TestedApi } from './fake-order-screening.ts';

const WITHIN_MS = 10_000;
const SLOW = { headers: 300, request: 600, look: 50 };
const GET_HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';

/** The API on a port of its own, for bytes as they are. */
async function aListeningApi(options: TestedApi = {}) {
  const api = await anApi(options);
  const url = new URL(await api.app.listen({ port: 0, host: '127.0.0.1' }));
  const exchange = (bytes: string, dripping?: string) => exchangeWith(Number(url.port), bytes, dripping);
  return { ...api, exchange };
}

/**
 * Sends bytes as they are, and what drips in after them.
 * @returns the answer when the API has closed the connection, and everything that came back
 */
async function exchangeWith(port: number, bytes: string, dripping?: string) {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const drops = setInterval(() => dripping && socket.writable && socket.write(dripping), 50);
  const timer = setTimeout(() => socket.destroy(new Error('still open')), WITHIN_MS);
  const all = await new Promise<string>((resolve, reject) => {
    let answer = '';
    socket.setEncoding('utf8').on('data', (part) => {
      answer += part;
    });
    socket.on('error', (error) => (answer === '' ? reject(error) : undefined));
    socket.on('close', () => {
      clearInterval(drops);
      clearTimeout(timer);
      resolve(answer);
    });
  });
  const [head = '', body = ''] = all.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => line.split(': ')).map(([name = '', value]) => [name.toLowerCase(), value]),
  );
  return { all, statusCode: Number(first.split(' ')[1]), headers, body };
}

type Answer = Parameters<typeof expectProblem>[0];

/** The answer is a problem, and is logged and counted once. */
async function expectRefused(
  { app, logged }: { app: FastifyInstance; logged: () => string },
  answer: Answer,
  [status, code]: readonly [number, string],
) {
  expectProblem(answer);
  expect(JSON.parse(answer.body)).toMatchObject({ type: `/problems/${code}`, status });
  expect(answer.statusCode).toBe(status);
  await eventually(() => {
    // The audit log has lines of its own, and so have errors.
    const lines = logged()
      .split('\n')
      .filter((line) => line.includes('"answered"'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ status, code }]);
  });
  const { body } = await app.inject('/metrics');
  expect(body).toMatch(
    new RegExp(`http_request_duration_seconds_count\\{method="\\w+",route="[^"]+",status="${status}"\\} 1\n`),
  );
  expect(answer.body + logged()).not.toContain('to-be-kept-out');
}

describe('a caller who sends slowly', () => {
  const POST =
    'POST /v1/orders/order-1/cancel HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

  it.each([
    ['headers', 'GET /v1/orders/order-1 HTTP/1.1\r\nHost: localhost\r\n', 'X-Drip: 1\r\n'],
    ['body', `${POST}Content-Length: 1000\r\n\r\n{"reason":"`, 'x'],
  ])('is told so and cut off when what drips in are its %s', async (_what, begin, drop) => {
    const api = await aListeningApi({ times: SLOW });
    await expectRefused(api, await api.exchange(begin, drop), [408, 'request-timeout']);
    for (const asked of Object.values(api.orderScreening)) expect(asked).not.toHaveBeenCalled();
  });

  it('keeps nobody else from being answered', async () => {
    const { exchange } = await aListeningApi({ times: { ...SLOW, headers: 1_000, request: 1_000 } });
    const slow = Array.from({ length: 50 }, () => exchange('GET / HTTP/1.1\r\n'));
    expect((await exchange(`${GET_HEALTH}\r\n`)).statusCode).toBe(200);
    for (const { statusCode } of await Promise.all(slow)) expect(statusCode).toBe(408);
  });

  it('loses a connection on which nothing moves', async () => {
    const { exchange } = await aListeningApi({ times: { connection: 200 } });
    expect((await exchange('')).all).toBe('');
  });
});

describe('what is no request', () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  const LONG = 'to-be-kept-out'.repeat(2_000);

  it.each([
    ['no HTTP', 'to-be-kept-out\r\n\r\n', 400, 'bad-request'],
    ['headers above 16 KiB', `${GET_HEALTH}X: ${LONG}\r\n\r\n`, 431, 'headers-too-large'],
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'bad-request'],
    ['an address that encodes nothing', get('/v1/orders/%to-be-kept-out'), 400, 'bad-request'],
    ['an address that is too long', get(`/v1/orders/${LONG.slice(0, 1_400)}`), 400, 'bad-request'],
    ['an address that nobody has', get('/to-be-kept-out'), 404, 'not-found'],
  ])('is answered by a problem, logged and counted: %s', async (_case, bytes, status, code) => {
    const api = await aListeningApi();
    await expectRefused(api, await api.exchange(bytes), [status, code]);
  });

  it.each([
    ['not JSON', 400, 'not-json', 'application/json', '{"to-be-kept-out'],
    ['null', 400, 'not-json', 'application/json', 'null'],
    ['poisoned', 400, 'not-json', 'application/json', '{"__proto__": {"to-be-kept-out": 1}}'],
    ['not in UTF-8', 400, 'not-json', 'application/json', Buffer.from('{"reason": "M\xfcller"}', 'latin1')],
    ['in another charset', 415, 'unsupported-media-type', 'application/json; Charset="latin1"', '{}'],
    ['an unknown content type', 415, 'unsupported-media-type', 'text/to-be-kept-out', '{}'],
    ['above 256 KiB', 413, 'too-large', 'application/json', JSON.stringify('x'.repeat(256 * 1024))],
  ])('nor a body that is %s', async (_case, status, code, type, payload) => {
    const api = await anApi();
    const headers = { 'content-type': type };
    const url = '/v1/orders/order-1/cancel';
    await expectRefused(api, await api.app.inject({ method: 'POST', url, headers, payload }), [status, code]);
  });

  it.each(['application/json;charset=UTF-8', 'application/json; charset="utf8"'])(
    'takes a body in UTF-8, with a mark or without, as %s',
    async (type) => {
      const { app, orderScreening } = await anApi();
      const headers = { 'content-type': type };
      const payload = '\ufeff{"reason": "Müller"}';
      await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel', headers, payload });
      expect(orderScreening.cancel.mock.calls[0]?.[1]).toEqual({ reason: 'Müller' });
    },
  );

  it('takes an expectation that it does not know for none', async () => {
    const { exchange } = await aListeningApi();
    expect((await exchange(`${GET_HEALTH}Expect: tea\r\n\r\n`)).statusCode).toBe(200);
  });
});

it('a handler that never ends is answered 503: the outcome is unknown', async () => {
  const api = await anApi({ times: { handler: 100 } });
  api.orderScreening.get.mockReturnValue(new Promise(() => undefined));
  const response = await api.app.inject('/v1/orders/order-1');
  await expectRefused(api, response, [503, 'no-answer-in-time']);
  expect(response.headers['retry-after']).toBe('2');
});
