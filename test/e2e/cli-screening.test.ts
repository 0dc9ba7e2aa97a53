import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTransaction } from '../fixtures/transactions.ts';
import { freePort, withTestServer } from '../support/index.ts';
import { type RedisServer, redisInstalled, startRedis } from '../support/redis-server.ts';
import { cliOf, orderJson } from './cli-support.ts';
import { runCli } from './run-cli.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const withRedis = await redisInstalled();
const server = withTestServer();
let all: Deployment;
let redis: RedisServer | undefined;

beforeAll(async () => {
  if (withRedis) redis = await startRedis();
  const cards = redis && {
    CARD_STASH_URL: redis.url,
    CARD_STASH_KEYS: `one:${randomBytes(32).toString('base64')}`,
  };
  all = await deploy(
    server.address,
    {
      default: { poll: { first: '30s', factor: 1, max: '30s' } },
      other: {},
    },
    { env: { ...cards } },
  );
});
afterAll(async () => {
  await all?.stop();
  await redis?.stop();
});

const { cli, screen } = cliOf(() => all);

describe('screen', () => {
  it('answers with a decision as JSON, by one transaction, and the same again gets the same answer', async () => {
    const orderId = anOrderId();
    const first = await screen(orderId, 'pass@example.com');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.json()).toMatchObject({ orderId, attempt: 1, decision: 'pass', action: 'proceed' });
    expect(first.json()).not.toHaveProperty('fingerprint');
    expect((await screen(orderId, 'pass@example.com')).json()).toEqual(first.json());
    expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
  });

  it('takes a file, and an option goes before the field of the file', async () => {
    const file = 'examples/orders/fraudulent.json';
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ workflow: 'post-acceptance' });
    const args = ['--workflow', 'pre-acceptance', '--integration', 'other'];
    const { code, json } = await cli('screen', anOrderId(), file, ...args);
    expect(code).toBe(0);
    expect(json()).toMatchObject({ integration: 'other', decision: 'fraudulent', action: 'decline' });
  });

  it('lists every fault of the order with its path, echoes nothing, starts nothing and ends with 2', async () => {
    const orderId = anOrderId();
    const broken = { ...aTransaction(), amount: 'a-lot-of-money', curency_code: 'USD' };
    const run = await runCli(['screen', orderId], all.settings, JSON.stringify({ transaction: broken }));
    expect(run).toMatchObject({ code: 2, stdout: '' });
    const { type, errors } = run.problem();
    expect(type).toBe('invalid-request');
    const paths = errors.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(['transaction.amount', 'transaction.curency_code']));
    expect(run.stderr).not.toContain('a-lot-of-money');
    expect((await cli('show', orderId)).code).toBe(4);
  });

  it.each([
    ['no JSON', [], '{"transaction": top-secret', 'Standard input'],
    ['a list', [], '["top-secret"]', 'Standard input'],
    ['a file that is not there', ['top-secret.json'], '', 'missing'],
    ['an order id in the body', [], '{"orderId": "top-secret", "transaction": {}}', 'fault'],
  ])('ends with 2 for %s, without echoing it', async (_what, args, stdin, words) => {
    const run = await runCli(['screen', anOrderId(), ...args], all.settings, stdin);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.problem().detail).toContain(words);
    expect(run.stderr).not.toContain('top-secret');
  });

  it('ends with 3 when the same attempt had another content', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await screen(orderId, 'fail@example.com');
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.problem().type).toBe('attempt-mismatch');
  });

  it('refuses full card data that could reach no worker, and starts nothing', async () => {
    const orderId = anOrderId();
    const env = { ...all.settings, CARD_STASH_URL: undefined, CARD_STASH_KEYS: undefined };
    const run = await runCli(['screen', orderId, 'examples/orders/pre-gateway.json'], env);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.problem().detail).toContain('CARD_STASH_URL');
    expect(run.stderr).not.toContain('4111');
    expect((await cli('show', orderId)).code).toBe(4);
  });

  it('ends with 5 when Temporal is not there', async () => {
    const env = { ...all.settings, TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const run = await runCli(['screen', anOrderId()], env, orderJson('pass@example.com'));
    expect(run).toMatchObject({ code: 5, stdout: '' });
    expect(run.problem()).toMatchObject({ type: 'temporal-unreachable' });
  });
});

describe('retry', () => {
  it('screens the next attempt of a declined order', async () => {
    const orderId = anOrderId();
    expect((await screen(orderId, 'fail@example.com')).json()).toMatchObject({ action: 'decline' });
    const run = await runCli(
      ['retry', orderId, '--attempt', '2'],
      all.settings,
      orderJson('pass@example.com'),
    );
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ attempt: 2, decision: 'pass', action: 'proceed' });
  });

  it('ends with 3 out of turn, and with 2 without the attempt', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const retry = (...args: string[]) =>
      runCli(['retry', orderId, ...args], all.settings, orderJson('pass@example.com'));
    const early = await retry('--attempt', '2');
    expect([early.code, early.problem().type]).toEqual([3, 'retry-out-of-turn']);
    const unnamed = await retry();
    expect(unnamed.code).toBe(2);
    expect(unnamed.problem().errors).toEqual([
      { path: '--attempt', message: 'must be a whole number from 2 to 1000' },
    ]);
  });
});

describe('gateway-result', () => {
  it.skipIf(!withRedis)('reports the result of a pre-gateway order, once', async () => {
    const orderId = anOrderId();
    const screened = await cli('screen', orderId, 'examples/orders/pre-gateway.json');
    expect(screened.json()).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'awaiting-gateway' });
    const args = ['gateway-result', orderId, 'pass', '--authcode', '123456', '--transaction-id', 'gw-1'];
    const run = await cli(...args);
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ result: 'pass', action: 'proceed', phase: 'decided' });
    const other = await cli('gateway-result', orderId, 'fail');
    expect([other.code, other.problem().type]).toEqual([3, 'gateway-result-mismatch']);
    await all.until(orderId, ({ attempts }) => attempts[0].gateway?.sent !== undefined);
    expect(all.sandbox.control.ledger({ operation: 'gateway-response', invoice: orderId })).toHaveLength(1);
  });

  it('ends with 3 for an order that waits for none, and with 2 for another word', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await cli('gateway-result', orderId, 'pass');
    expect([run.code, run.problem().type]).toEqual([3, 'gateway-result-out-of-turn']);
    const word = await cli('gateway-result', orderId, 'approved');
    expect([word.code, word.problem().errors]).toEqual([
      2,
      [{ path: '<result>', message: 'must be one of pass, fail, error' }],
    ]);
  });
});
