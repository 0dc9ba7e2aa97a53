import { once } from 'node:events';
import { createServer } from 'node:http2';
import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { frameworkLog } from '../../src/api/metrics.ts';
import { freePort } from '../../src/dev/guarded-child.ts';
import { createLog, type LogFields, logUnreachable, showError } from '../../src/process/log.ts';

const SECRET = 'to-be-kept-out';

function aLog() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('test', 'debug', { write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines, last: () => JSON.stringify(lines.at(-1)) };
}

/** Fields that code which the types did not stop could log. */
const unlisted = {
  url: `/v1/webhooks/default/${SECRET}`,
  ...{ headers: { authorization: SECRET }, req: { url: SECRET }, body: { email: SECRET } },
  ...{ transaction: SECRET, cardNumber: SECRET },
  // No object, where a text or a number is listed.
  ...{ route: { url: SECRET }, durationMs: { body: SECRET }, code: [SECRET] },
} as unknown as LogFields;

describe('the log', () => {
  it('says what is listed and nothing else', () => {
    const { log, lines, last } = aLog();
    log.info({ ...unlisted, orderId: 'order-1', status: 200, key: 'shop' }, 'answered');
    const { time: _time, pid: _pid, hostname: _host, ...said } = lines[0] ?? {};
    const listed = { orderId: 'order-1', status: 200, key: 'shop' };
    expect(said).toEqual({ level: 30, name: 'test', ...listed, msg: 'answered' });
    expect(last()).not.toContain(SECRET);
  });

  it('shows the last four digits of a card number, wherever one got to', () => {
    const { log, last, lines } = aLog();
    const workflowId = 'order:default:4111 1111 1111 1111';
    log.info({ orderId: '４１１１１１１１１１１１１１１１', workflowId }, 'answered');
    expect(last()).toContain('order:default:**** **** **** 1111');
    const { time: _time, pid: _pid, ...said } = lines[0] ?? {};
    expect(JSON.stringify(said).normalize('NFKC').replace(/\D/g, '')).not.toContain('41111');
  });

  it('shows of an error its kind, its code and its frames, and of its causes too', () => {
    const cause = Object.assign(new TypeError(`cause ${SECRET}`), { code: 'ECONNREFUSED' });
    const more = { code: 'FST_ERR', url: SECRET, config: { headers: SECRET } };
    const shown = showError(Object.assign(new Error(`about ${SECRET}`, { cause }), more));
    const frames = expect.arrayContaining([expect.stringContaining('log.test.ts')]);
    const ofCause = { type: 'TypeError', code: 'ECONNREFUSED' };
    expect(shown).toMatchObject({ type: 'Error', code: 'FST_ERR', frames, cause: ofCause });
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });

  it.each([
    ['lines like frames in its message', new Error(`x\n    at ${SECRET} (/x.js:1:1)\n    at /${SECRET}:1:1`)],
    ['a changed message', Object.assign(new Error(`x\n    at ${SECRET}`), { message: 'y' })],
    ['a name of its own', Object.assign(new Error('x'), { name: `Card ${SECRET}` })],
    ['a code of its own', Object.assign(new Error('x'), { code: `card ${SECRET}` })],
    ['no error', SECRET],
    ['an object', { message: SECRET }],
  ])('shows nothing of an error with %s', (_case, error) => {
    const { log, last } = aLog();
    log.error({ err: error }, 'failed');
    expect(last()).not.toContain(SECRET);
  });

  it.each([
    ['connect ECONNREFUSED 127.0.0.1:7233', { why: 'ECONNREFUSED', address: '127.0.0.1:7233' }],
    ['connect ETIMEDOUT [2001:db8::1]:7233', { why: 'ETIMEDOUT', address: '[2001:db8::1]:7233' }],
    ['getaddrinfo ENOTFOUND temporal.example', { why: 'ENOTFOUND', address: 'temporal.example' }],
    [
      `14 UNAVAILABLE: No connection. Error: connect ECONNREFUSED 10.0.0.1:7233 ${SECRET}`,
      { grpc: 'UNAVAILABLE', why: 'ECONNREFUSED', address: '10.0.0.1:7233' },
    ],
    [`14 UNAVAILABLE: ${SECRET}`, { grpc: 'UNAVAILABLE', why: 'not available' }],
    [`Status { code: Unavailable, message: "${SECRET}" }`, { grpc: 'Unavailable', why: 'not available' }],
    [`7 PERMISSION_DENIED: ${SECRET}`, { grpc: 'PERMISSION_DENIED' }],
    ['Status { code: Unavailable, message: "dns error" }', { grpc: 'Unavailable', why: 'dns error' }],
    ['invalid peer certificate: UnknownIssuer', { why: 'UnknownIssuer' }],
    [
      `4 DEADLINE_EXCEEDED: Deadline exceeded after 2.001s,Waiting for LB pick ${SECRET}`,
      { grpc: 'DEADLINE_EXCEEDED', why: 'not connected' },
    ],
    [`4 DEADLINE_EXCEEDED: ${SECRET}`, { grpc: 'DEADLINE_EXCEEDED', why: 'no answer in time' }],
    ['the worker did not answer in time', { why: 'the worker did not answer in time' }],
  ])('says why there is no connection: %s', (words, why) => {
    for (const error of [new Error(words), words]) {
      const shown = showError(error);
      expect(shown).toMatchObject(why);
      expect(JSON.stringify(shown)).not.toContain(SECRET);
    }
  });

  it.each([
    `redis://user:${SECRET}@127.0.0.1:6379`,
    `connect to https://user:12345@host.example:443/${SECRET} ECONNREFUSED`,
    `ECONNREFUSED ${SECRET}:1`,
    `connect ECONNREFUSED ${SECRET}`,
    `5 NOT_FOUND ${SECRET}`,
  ])('takes no address from where something else may stand: %s', (words) => {
    expect(JSON.stringify(showError(new Error(words)))).not.toMatch(new RegExp(`${SECRET}|12345|user`));
  });

  it('says of a failed activity why, by its type alone, and ends at causes that go round', () => {
    const failure = ApplicationFailure.retryable(SECRET, 'connection-refused');
    expect(showError(failure)).toEqual({ type: 'ApplicationFailure', reason: 'connection-refused' });
    const odd = ApplicationFailure.retryable('x', `a type ${SECRET}`);
    expect(JSON.stringify(showError(odd))).not.toContain(SECRET);
    const round = new Error('x');
    round.cause = round;
    expect(JSON.stringify(showError(round)).match(/"type"/g)).toHaveLength(6);
  });
});

describe('a call to Temporal that reaches nobody is logged, with its name and why', () => {
  async function call(address: string) {
    const { log, lines } = aLog();
    const retry = makeGrpcRetryInterceptor({ ...defaultGrpcRetryOptions(), retryableDecider: () => false });
    const connection = Connection.lazy({ address, interceptors: [retry, logUnreachable(log)] });
    onTestFinished(() => connection.close());
    await expect(connection.workflowService.getSystemInfo({})).rejects.toThrow();
    return lines;
  }

  it('when nothing listens', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const msg = 'Temporal can not be reached, the call is tried again';
    const line = { msg, call: 'GetSystemInfo', err: { why: 'ECONNREFUSED', address } };
    expect((await call(address))[0]).toMatchObject(line);
  });

  it('when a stopping server turns it away', async () => {
    const server = createServer();
    server.on('stream', (stream) => {
      const trailers = { 'content-type': 'application/grpc', 'grpc-status': 14, 'grpc-message': SECRET };
      stream.respond({ ':status': 200, ...trailers }, { endStream: true });
    });
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const lines = await call(`127.0.0.1:${port}`);
    expect(lines[0]).toMatchObject({ call: 'GetSystemInfo', err: { why: 'not available' } });
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });
});

describe("a library's line", () => {
  it.each([
    ['Activity failed', true],
    ['Workflow code threw', true],
    ['No workflows registered, not polling for workflow tasks', true],
    [`Error while processing: ${SECRET}`, false],
    ['Route GET:/v1/webhooks/default/secret not found', false],
    ['sent to a@example.com', false],
    ['card 4111111111111111', false],
    ['Failure { message: "secret" }', false],
  ])('keeps its words when it quotes nothing: %s: %s', (words, kept) => {
    const { log, lines, last } = aLog();
    log.foreign('warn', { workflowId: 'order:default:1' }, words);
    const msg = kept ? words : expect.stringContaining('its words are left out');
    expect(lines).toMatchObject([{ workflowId: 'order:default:1', msg }]);
    expect(last().includes(words)).toBe(kept);
  });

  it('that says why is counted over all orders, and names the first', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { log, lines } = aLog();
    const failed = (orderId: string, reason: string) => {
      const err = ApplicationFailure.retryable('x', reason);
      log.foreign('warn', { orderId, attempt: 1, err }, 'Activity failed');
    };
    for (const orderId of ['1', '2', '3']) failed(orderId, 'dns');
    failed('4', 'timeout');
    vi.advanceTimersByTime(10_000);
    failed('5', 'dns');
    expect(lines.map(({ orderId, repeats }) => [orderId, repeats])).toEqual([
      ['1', undefined],
      ['4', undefined],
      ['5', 2],
    ]);
  });

  it('of Fastify passes the same way, with errors and without', () => {
    const { log, lines } = aLog();
    const fastifys = frameworkLog(log).child({ req: { url: SECRET } });
    fastifys.info('Server listening at http://127.0.0.1:8080');
    fastifys.warn({ err: new Error(SECRET), req: { url: SECRET } }, SECRET);
    fastifys.error(new Error(SECRET));
    fastifys.warn(`Reply was already sent in the "/v1/webhooks/default/${SECRET}" (GET) route?`);
    fastifys.info({ res: { url: SECRET } }, 'stream closed prematurely');
    expect(lines[0]).toMatchObject({ msg: 'Server listening at http://127.0.0.1:8080' });
    expect(lines[1]).toMatchObject({ err: { type: 'Error' } });
    expect(lines).toHaveLength(5);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });
});
