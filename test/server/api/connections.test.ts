import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../fuzz/expect-harmless.ts';
import { eventually } from '../../support/index.ts';
import { anApi, aPortalAnswer, type TestedApi } from './fake-order-screening.ts';

const WITHIN_MS = 10_000;
const SLOW = {
  requestTimeout: 600,
  http: { headersTimeout: 300, connectionsCheckingInterval: 50 },
};

type Api = Awaited<ReturnType<typeof anApi>>;

/** The API on a port of its own, for bytes as they are. */
async function aListeningApi(options: TestedApi = {}) {
  const api = await anApi(options);
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  return api;
}

/** Sends bytes as they are. @returns everything that came back until the API closed the connection */
async function exchange(
  app: FastifyInstance,
  bytes: string,
  more?: (send: (part: string) => void, hangUp: () => void) => void,
) {
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return new Promise<string>((resolve, reject) => {
    let answer = '';
    const socket = connect(address.port, '127.0.0.1');
    // Before the connection is there, so that nothing of `more` gets before it.
    socket.write(bytes);
    const timer = setTimeout(() => socket.destroy(new Error(`still open: ${answer}`)), WITHIN_MS);
    socket.setEncoding('utf8').on('data', (part) => {
      answer += part;
    });
    socket.on('error', (error) => (answer === '' ? reject(error) : undefined));
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
    more?.(
      (part) => socket.writable && socket.write(part),
      () => socket.destroy(),
    );
  });
}

function read(answer: string) {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines
    .map((line) => line.split(': '))
    .map(([name = '', value]) => [name.toLowerCase(), value]);
  return { statusCode: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), body };
}

async function expectCounted({ app, withoutAudit }: Api, status: number, code?: string) {
  await eventually(() => {
    const lines = withoutAudit().filter((line) => line.status === status && line.code === code);
    expect(lines).toHaveLength(1);
  });
  const { body } = await app.inject('/metrics');
  expect(body).toMatch(
    new RegExp(`http_request_duration_seconds_count\\{method="\\w+",route="[^"]+",status="${status}"\\} 1\n`),
  );
}

describe('a caller who sends slowly', () => {
  const CANCEL =
    'POST /v1/orders/order-1/cancel HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

  it.each([
    ['headers', 'GET /v1/orders/order-1 HTTP/1.1\r\nHost: localhost\r\n', 'X-Drip: 1\r\n'],
    ['body', `${CANCEL}Content-Length: 1000\r\n\r\n{"reason":"`, 'x'],
  ])('is told so and cut off when what drips in are its %s', async (_what, begin, drop) => {
    const { app, orderScreening } = await aListeningApi({ connection: SLOW });
    let dripping: NodeJS.Timeout | undefined;
    const answer = await exchange(app, begin, (send) => {
      dripping = setInterval(() => send(drop), 50);
    });
    clearInterval(dripping);
    expect(read(answer).statusCode).toBe(408);
    for (const asked of Object.values(orderScreening)) expect(asked).not.toHaveBeenCalled();
  });

  it('keeps nobody else from being answered', async () => {
    const { app } = await aListeningApi({
      connection: { requestTimeout: 1_000, http: { ...SLOW.http, headersTimeout: 1_000 } },
    });
    const slow = Array.from({ length: 50 }, () => exchange(app, 'GET / HTTP/1.1\r\n'));
    const health = await exchange(
      app,
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    );
    expect(read(health).statusCode).toBe(200);
    for (const answer of await Promise.all(slow)) expect(read(answer).statusCode).toBe(408);
  });

  it('loses a connection on which nothing moves', async () => {
    const { app } = await aListeningApi({ connection: { connectionTimeout: 200 } });
    expect(await exchange(app, '')).toBe('');
  });
});

describe('what is no request', () => {
  it.each([
    ['no HTTP', 'to-be-kept-out\r\n\r\n', 400],
    [
      'headers above 16 KiB',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'to-be-kept-out'.repeat(2_000)}\r\n\r\n`,
      431,
    ],
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ])('is refused without a word of it: %s', async (_case, bytes, status) => {
    const { app, logged } = await aListeningApi();
    const answer = await exchange(app, bytes);
    expect(read(answer).statusCode).toBe(status);
    expect(answer + logged()).not.toContain('to-be-kept-out');
  });

  const get = (path: string, headers = '') =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`;
  const twoKeys = 'Authorization: Bearer a\r\nAuthorization: Bearer to-be-kept-out\r\n';
  it.each([
    ['two keys', get('/healthz', twoKeys), 400, 'bad-request'],
    ['an address that encodes nothing', get('/v1/orders/%to-be-kept-out'), 400, 'bad-request'],
    ['an address that is too long', get(`/v1/orders/${'to-be-kept-out'.repeat(100)}`), 400, 'bad-request'],
    ['an address that nobody has', get('/to-be-kept-out'), 404, 'not-found'],
  ])('is answered by a problem, logged and counted: %s', async (_case, bytes, status, code) => {
    const api = await aListeningApi();
    const answer = await exchange(api.app, bytes);
    expect(read(answer).statusCode).toBe(status);
    expectProblem(read(answer));
    expect(JSON.parse(read(answer).body)).toMatchObject({ type: `/problems/${code}`, status });
    await expectCounted(api, status, code);
    expect(answer + api.logged()).not.toContain('to-be-kept-out');
  });

  it.each([
    ['not JSON', 400, 'not-json', 'application/json', '{"to-be-kept-out'],
    ['poisoned', 400, 'not-json', 'application/json', '{"__proto__": {"to-be-kept-out": 1}}'],
    ['not in UTF-8', 400, 'not-json', 'application/json', Buffer.from('{"reason": "M\xfcller"}', 'latin1')],
    [
      'said to be in another charset',
      415,
      'unsupported-media-type',
      'application/json; Charset="latin1"',
      '{}',
    ],
    ['an unknown content type', 415, 'unsupported-media-type', 'text/to-be-kept-out', '{}'],
    ['above 256 KiB', 413, 'too-large', 'application/json', JSON.stringify('x'.repeat(256 * 1024))],
  ])('nor a body that is %s', async (_case, status, code, type, payload) => {
    const api = await anApi();
    const headers = { 'content-type': type };
    const response = await api.app.inject({
      method: 'POST',
      url: '/v1/orders/order-1/cancel',
      headers,
      payload,
    });
    expect(response.statusCode).toBe(status);
    expectProblem(response);
    expect(response.json()).toMatchObject({ type: `/problems/${code}`, status });
    await expectCounted(api, status, code);
    expect(response.body + api.logged()).not.toContain('to-be-kept-out');
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
});

describe('a caller who hangs up', () => {
  const cancel = (length: number) =>
    `POST /v1/orders/order-1/cancel HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{}`;

  it.each([
    ['before the answer', cancel(2), 200, undefined],
    ['before the body is sent', cancel(3), 400, 'bad-request'],
  ])('%s is logged, audited and counted', async (_when, bytes, status, code) => {
    const api = await aListeningApi();
    const closed = new Promise((resolve) => {
      api.app.server.once('connection', (socket) => socket.once('close', resolve));
    });
    api.orderScreening.cancel.mockImplementation(async () => {
      await closed;
      return aPortalAnswer();
    });
    await exchange(api.app, bytes, (_send, hangUp) => api.app.server.once('request', hangUp));
    await expectCounted(api, status, code);
    expect(api.audit()).toMatchObject([{ status, route: '/v1/orders/:orderId/cancel', orderId: 'order-1' }]);
  });
});

it('a handler that never ends is answered 503: the outcome is unknown', async () => {
  const api = await anApi({ connection: { handlerTimeout: 100 } });
  api.orderScreening.get.mockReturnValue(new Promise(() => undefined));
  const response = await api.app.inject('/v1/orders/order-1');
  expect(response.statusCode).toBe(503);
  expectProblem(response);
  expect(response.headers['retry-after']).toBe('2');
  await expectCounted(api, 503, 'no-answer-in-time');
});
