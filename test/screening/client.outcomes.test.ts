import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { CREATE, client, failureOf, ID, OPERATIONS, service, withService } from './client-harness.ts';

withService();

describe.each(OPERATIONS)('%s', (operation, call) => {
  it.each(['', 'null', '[]', '"pass"', '{"id":', '<html></html>'])(
    'with HTTP 200 and body %j is malformed',
    async (body) => {
      service.answerJson(200, body);
      expect(await failureOf(call(client()))).toMatchObject({
        ...{ operation, outcome: 'unknown', reason: 'malformed-reply', status: 200 },
      });
    },
  );

  it('is unknown when the reply is cut short', async () => {
    service.answerWith((response) => {
      response.writeHead(200, { 'content-length': '500' });
      response.write('{"id":"', () => response.destroy());
    });
    expect(await failureOf(call(client()))).toMatchObject({
      operation,
      outcome: 'unknown',
      reason: 'truncated',
    });
  });

  it('is unknown when the connection is reset before a reply', async () => {
    service.answerWith((response) => response.socket?.resetAndDestroy());
    expect(await failureOf(call(client()))).toMatchObject({ operation, outcome: 'unknown', reason: 'reset' });
  });

  it('is unknown when no reply comes in time', async () => {
    service.answerWith(() => undefined);
    const error = await failureOf(call(client(), { timeoutMs: 30 }));
    expect(error).toMatchObject({ operation, outcome: 'unknown', reason: 'timeout' });
  });

  it('is unknown when the body does not end in time', async () => {
    service.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":');
    });
    const error = await failureOf(call(client(), { timeoutMs: 60 }));
    expect(error).toMatchObject({ operation, outcome: 'unknown', reason: 'timeout' });
  });

  it('is unknown when the reply is far too large', async () => {
    service.answerJson(200, JSON.stringify({ id: ID, decision: 'pass', message: 'x'.repeat(600_000) }));
    expect(await failureOf(call(client()))).toMatchObject({
      operation,
      outcome: 'unknown',
      reason: 'too-large',
    });
  });

  it('is not done when nobody listens', async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port }: { port?: number } = Object(free.address());
    await new Promise((resolve) => free.close(resolve));
    const error = await failureOf(call(client('definition', `http://127.0.0.1:${port}`)));
    expect(error).toMatchObject({ operation, outcome: 'not-done', reason: 'connection-refused' });
  });
});

it('a host name that does not exist is not done', async () => {
  const error = await failureOf(
    client('definition', 'http://no-such-host.invalid').createTransaction(CREATE),
  );
  expect(error).toMatchObject({ outcome: 'not-done', reason: 'dns' });
});

it('an https address that does not speak TLS is not done', async () => {
  const error = await failureOf(
    client('definition', service.url.replace('http:', 'https:')).createTransaction(CREATE),
  );
  expect(error).toMatchObject({ outcome: 'not-done', reason: 'tls' });
  expect(service.seen).toEqual([]);
});

it('a refusal whose words are cut short is unknown, since nobody can tell who said it', async () => {
  service.answerWith((response) => {
    response.writeHead(403, { 'content-length': '500' });
    response.write('{"Errors":["Not', () => response.destroy());
  });
  expect(await failureOf(client().createTransaction(CREATE))).toMatchObject({
    outcome: 'unknown',
    reason: 'malformed-reply',
    status: 403,
  });
});

it('being put off stays that when its words are cut short', async () => {
  service.answerWith((response) => {
    response.writeHead(429, { 'content-length': '500', 'retry-after': '7' });
    response.write('{"Errors":["Too', () => response.destroy());
  });
  expect(await failureOf(client().createTransaction(CREATE))).toMatchObject({
    outcome: 'not-done',
    retryAfterMs: 7_000,
  });
});
