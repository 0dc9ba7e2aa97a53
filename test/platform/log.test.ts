import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../src/dev/ports.ts';
import { type LogFields, logUnreachable } from '../../src/platform/log.ts';
import { showError } from '../../src/platform/show-error.ts';
import { frameworkLog } from '../../src/server/api/metrics.ts';
import { aLog, SECRET } from './a-log.ts';

function shown(error: unknown): Record<string, unknown> {
  const of = showError(error);
  expect(JSON.stringify(of)).not.toContain(SECRET);
  return of;
}

/** Somebody's code that the types didn't stop. */
const unlisted = {
  url: `/v1/webhooks/default/${SECRET}`,
  headers: { authorization: SECRET },
  req: { url: SECRET },
  body: { email: SECRET },
  transaction: SECRET,
  cardNumber: SECRET,
} as unknown as LogFields;

describe('the log', () => {
  it('says what is listed and nothing else', () => {
    const { log, lines } = aLog();
    log.info({ ...unlisted, orderId: 'order-1', status: 200, key: 'shop' }, 'answered');
    // Nor an object where it lists a text or a number.
    const objects = { route: { url: SECRET }, status: { body: SECRET }, orderId: [SECRET] };
    log.warn(objects as unknown as LogFields, 'answered');
    expect(lines).toMatchObject([
      { name: 'test', orderId: 'order-1', status: 200, key: 'shop', msg: 'answered' },
      { name: 'test', msg: 'answered' },
    ]);
    expect(Object.keys(lines[0] ?? {}).sort()).toEqual(
      ['hostname', 'key', 'level', 'msg', 'name', 'orderId', 'pid', 'status', 'time'].sort(),
    );
  });

  it('shows no digit of a text with a card number, wherever one got to', () => {
    const { log, lines } = aLog();
    const workflowId = 'order:default:4111 1111 1111 1111';
    log.info({ orderId: '４１１１１１１１１１１１１１１１', workflowId }, 'answered');
    expect(lines).toMatchObject([
      { workflowId: 'order:default:**** **** **** ****', orderId: '*'.repeat(16) },
    ]);
  });

  it('shows an id that looks like a card number only in free text', () => {
    const { log, lines } = aLog();
    log.info({ orderId: '6582359485423', because: 'as 6582359485423' }, 'answered');
    expect(lines).toMatchObject([{ orderId: '6582359485423', because: `as ${'*'.repeat(13)}` }]);
  });

  it('takes only words that are fixed when it is compiled', () => {
    const { log } = aLog();
    // @ts-expect-error a text that is put together
    log.info(`order of ${'x' as string}`);
    // @ts-expect-error any text
    log.warn({ status: 1 }, 'x' as string);
    // @ts-expect-error a field that isn't listed
    log.error({ url: 'x' }, 'fixed');
    log.debug({ status: 1 }, 'fixed');
  });

  it('shows of an error its kind, its code and its frames, and of its causes too', () => {
    const cause = Object.assign(new TypeError(`cause ${SECRET}`), { code: 'ECONNREFUSED' });
    const details = { code: 'FST_ERR', url: SECRET, config: { headers: SECRET } };
    expect(shown(Object.assign(new Error(`about ${SECRET}`, { cause }), details))).toMatchObject({
      type: 'Error',
      code: 'FST_ERR',
      frames: expect.arrayContaining([expect.stringContaining('log.test.ts')]),
      cause: { type: 'TypeError', code: 'ECONNREFUSED' },
    });
  });

  it.each([
    ['lines like frames in its message', new Error(`x\n    at ${SECRET} (/x.js:1:1)\n    at /${SECRET}:1:1`)],
    ['a changed message', Object.assign(new Error(`x\n    at ${SECRET}`), { message: 'y' })],
    ['a name of its own', Object.assign(new Error('x'), { name: `Card ${SECRET}` })],
    ['a code of its own', Object.assign(new Error('x'), { code: `card ${SECRET}` })],
    ['no error', SECRET],
    ['an object', { message: SECRET }],
  ])('shows nothing of an error with %s', (_case, error) => {
    aLog().log.error({ err: error }, 'failed');
  });

  it.each([
    ['connect ECONNREFUSED 127.0.0.1:7233', { why: 'ECONNREFUSED' }],
    ['getaddrinfo ENOTFOUND temporal.example', { why: 'ENOTFOUND' }],
    [`14 UNAVAILABLE: Error: connect ECONNREFUSED ${SECRET}`, { grpc: 'UNAVAILABLE', why: 'ECONNREFUSED' }],
    [`ServiceError: 14 UNAVAILABLE: ${SECRET}`, { grpc: 'UNAVAILABLE', why: 'UNAVAILABLE' }],
    [`14 UNAVAILABLE: ${SECRET}`, { grpc: 'UNAVAILABLE', why: 'UNAVAILABLE' }],
    [`Status { code: Unavailable, message: "${SECRET}" }`, { grpc: 'Unavailable', why: 'Unavailable' }],
    [`7 PERMISSION_DENIED: ${SECRET}`, { grpc: 'PERMISSION_DENIED' }],
    ['Status { code: Unavailable, message: "dns error" }', { grpc: 'Unavailable', why: 'dns error' }],
    ['invalid peer certificate: UnknownIssuer', { why: 'UnknownIssuer' }],
    [`4 DEADLINE_EXCEEDED: ${SECRET}`, { grpc: 'DEADLINE_EXCEEDED', why: 'DEADLINE_EXCEEDED' }],
    ['the worker did not answer in time', { why: 'the worker did not answer in time' }],
  ])('says why there is no connection: %s', (words, why) => {
    for (const error of [new Error(words), words]) expect(shown(error)).toMatchObject(why);
  });

  it.each([
    `redis://user:${SECRET}@127.0.0.1:6379`,
    `connect to https://user:12345@host.example:443/${SECRET} ECONNREFUSED`,
    `ECONNREFUSED ${SECRET}:1`,
    `connect ECONNREFUSED ${SECRET}`,
    `5 NOT_FOUND ${SECRET}`,
  ])('shows nothing else of the words: %s', (words) => {
    expect(JSON.stringify(showError(new Error(words)))).not.toMatch(new RegExp(`${SECRET}|12345|user`));
  });

  it('says of a failed activity why, by its type alone', () => {
    const failure = ApplicationFailure.retryable(SECRET, 'connection-refused');
    expect(shown(failure)).toEqual({ type: 'ApplicationFailure', reason: 'connection-refused' });
    shown(ApplicationFailure.retryable('x', `a type ${SECRET}`));
  });

  it('ends at causes that go round', () => {
    const error = new Error('x');
    error.cause = error;
    expect(JSON.stringify(showError(error)).match(/"type"/g)).toHaveLength(6);
  });
});

it('says of each try of a call to Temporal that reaches nobody which call it is, and why', async () => {
  const { log, lines } = aLog();
  const address = `127.0.0.1:${await freePort()}`;
  const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());
  const connection = Connection.lazy({ address, interceptors: [retry, logUnreachable(log)] });
  onTestFinished(() => connection.close());
  const asked = connection.withDeadline(Date.now() + 2_000, () =>
    connection.workflowService.getSystemInfo({}),
  );
  await expect(asked).rejects.toThrow();
  expect(lines[0]).toMatchObject({
    msg: 'Temporal can not be reached, the call is tried again',
    call: 'GetSystemInfo',
    err: { why: 'ECONNREFUSED' },
  });
});

describe("a library's line", () => {
  it.each(['Activity failed', 'No workflows registered, not polling for workflow tasks'])(
    'is logged as it is when it quotes nothing: %s',
    (words) => {
      const { log, lines } = aLog();
      log.foreign('warn', {}, words);
      expect(lines).toMatchObject([{ msg: words }]);
    },
  );

  it.each([
    `Error while processing: ${SECRET}`,
    'Route GET:/v1/webhooks/default/secret not found',
    'sent to a@example.com',
    'card 4111111111111111',
    'Failure { message: "secret" }',
  ])('loses its words when it may quote something: %s', (words) => {
    const { log, lines } = aLog();
    log.foreign('warn', { workflowId: 'order:default:1' }, words);
    expect(lines).toMatchObject([
      { workflowId: 'order:default:1', msg: 'a line of a library; its words are left out' },
    ]);
    expect(JSON.stringify(lines)).not.toContain(words);
  });

  it('that says why is counted over all orders, and names the first', () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { log, lines } = aLog();
    const failed = (orderId: string, reason: string) => {
      const err = ApplicationFailure.retryable('x', reason);
      log.foreign('warn', { orderId, attempt: 1, err }, 'Activity failed');
    };
    for (const orderId of ['1', '2', '3']) failed(orderId, 'dns');
    failed('4', 'timeout');
    // Also when the clock is set back.
    vi.setSystemTime(Date.now() - 3_600_000);
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
  });
});
