import http, { type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  createScreeningClient,
  MACHINE,
  type Machine,
  ScreeningError,
} from '../../src/screening-service/index.ts';
import { freePort } from '../support/index.ts';
import {
  CHARGEBACK,
  CREATE,
  client,
  failureOf,
  ID,
  OPERATIONS,
  service,
  withService,
} from './client-harness.ts';

withService();

const cutShort =
  (status: number, body: string, headers = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-length': '500', ...headers });
    response.write(body, () => response.destroy());
  };
const json =
  (body: string) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
const large = JSON.stringify({ id: ID, decision: 'pass', message: 'x'.repeat(600_000) });

describe.each(OPERATIONS)('%s', (operation, call) => {
  it.each<[what: string, answer: (response: ServerResponse) => void, reason: string]>([
    ['no body', json(''), 'malformed-reply'],
    ['null', json('null'), 'malformed-reply'],
    ['a list', json('[]'), 'malformed-reply'],
    ['a text', json('"pass"'), 'malformed-reply'],
    ['half an object', json('{"id":'), 'malformed-reply'],
    ['a page', json('<html></html>'), 'malformed-reply'],
    ['a reply that is cut short', cutShort(200, '{"id":"'), 'truncated'],
    ['a connection that is reset', (response) => response.socket?.resetAndDestroy(), 'reset'],
    ['no reply in time', () => undefined, 'timeout'],
    ['a body without end', (response) => void response.writeHead(200).write('{"id":'), 'timeout'],
    ['a reply that is far too large', json(large), 'too-large'],
  ])('is unknown after %s', async (_what, answer, reason) => {
    service.answerWith(answer);
    const error = await failureOf(call(client(), reason === 'timeout' ? { timeoutMs: 60 } : {}));
    expect(error).toMatchObject({ operation, outcome: 'unknown', reason });
  });

  it('is not done when nobody listens', async () => {
    const nowhere = client('definition', `http://127.0.0.1:${await freePort()}`);
    const refused = { operation, outcome: 'not-done', reason: 'connection-refused' };
    expect(await failureOf(call(nowhere))).toMatchObject(refused);
  });
});

it.each([
  ['a host name that does not exist', () => 'http://no-such-host.invalid', 'dns'],
  ['an https address that does not speak TLS', () => service.url.replace('http:', 'https:'), 'tls'],
])('%s is not done', async (_what, address, reason) => {
  const error = await failureOf(client('definition', address()).createTransaction(CREATE));
  expect(error).toMatchObject({ outcome: 'not-done', reason });
});

it('a name with several addresses, none of which can be connected to, is not done', async () => {
  // One without a route, and one where nobody listens.
  const addresses = [
    { address: '2001:db8::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ];
  const agent = new http.Agent({ lookup: (_name, _options, found) => found(null, addresses) });
  const machine: Machine = { ...MACHINE, fetch: (url, request) => MACHINE.fetch(url, { ...request, agent }) };
  const address = `http://service.example:${await freePort()}`;
  const settings = {
    baseUrl: address,
    portalBaseUrl: address,
    apiKey: 'key',
    dialect: 'definition',
  } as const;
  const error = await failureOf(createScreeningClient({ ...settings, machine }).submitChargeback(CHARGEBACK));
  expect(error).toMatchObject({ outcome: 'not-done', reason: 'unreachable' });
});

it.each([
  [400, { outcome: 'unknown', reason: 'malformed-reply', status: 400 }],
  [403, { outcome: 'refused', reason: 'forbidden', status: 403 }],
  [429, { outcome: 'not-done', retryAfterMs: 7_000 }],
])('a %i whose words are cut short is judged by its status', async (status, expected) => {
  service.answerWith(cutShort(status, '{"Errors":["Not', { 'retry-after': '7' }));
  expect(await failureOf(client().createTransaction(CREATE))).toMatchObject(expected);
});

it('an error has only what is listed, whatever it is made from', () => {
  const failure = { operation: 'status', outcome: 'refused', reason: 'forbidden', status: 403 } as const;
  const given = { ...failure, secrets: ['a-key'], url: 'https://screening.example/status/a-key' };
  const error = new ScreeningError(given);
  expect(error).toMatchObject(failure);
  expect(inspect(error, { showHidden: true, depth: 5 })).not.toContain('a-key');
});
