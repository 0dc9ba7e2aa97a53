/** `order-screening` as a process of its own, over encrypted orders. What each command asks and answers is in `test/cli/`. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataConverter } from '../../src/starter.ts';
import { aTransaction, withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, withTestServer } from '../support/index.ts';
import { needRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { runCli, startCli } from './run-cli.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

/** What stands in the test order and must not stand in a list. */
const PERSONAL = /@example\.com|203\.0\.113\.7|Ada|Main Street|555 0100/;
const PRE_GATEWAY = 'examples/orders/pre-gateway.json';

const key = randomBytes(32);
const server = withTestServer({ dataConverter: createDataConverter([{ id: 'one', key }]) });
let all: Deployment;
let redis: RedisServer;

beforeAll(async () => {
  await needRedis();
  redis = await startRedis();
  all = await deploy(
    server.address,
    {
      default: { poll: { first: '30s', factor: 1, max: '30s' } },
      other: {},
    },
    {
      env: {
        PAYLOAD_KEYS: `one:${key.toString('base64')}`,
        CARD_STASH_URL: redis.url,
        CARD_STASH_KEYS: `one:${randomBytes(32).toString('base64')}`,
      },
    },
  );
});
afterAll(async () => {
  await all?.stop();
  await redis?.stop();
});

const cli = (...args: string[]) => runCli(args, all.settings);
const orderJson = (email: string) => JSON.stringify({ transaction: withEmail(email) });
const screen = (orderId: string, email: string, ...args: string[]) =>
  runCli(['screen', orderId, ...args], all.settings, orderJson(email));
/** An order that came by the API. */
const inReview = async (integration = 'default') => {
  const orderId = anOrderId();
  const path = `/v1/orders/${orderId}/screening?integration=${integration}`;
  await all.call('POST', path, { transaction: withEmail('review@example.com') });
  return orderId;
};

describe('an order', () => {
  it('is screened once, shown as the API shows it, and refused with another content', async () => {
    const orderId = anOrderId();
    const first = await screen(orderId, 'pass@example.com');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.json()).toMatchObject({ orderId, attempt: 1, decision: 'pass', action: 'proceed' });
    expect(first.json()).not.toHaveProperty('fingerprint');
    expect((await screen(orderId, 'pass@example.com')).json()).toEqual(first.json());
    const other = await screen(orderId, 'fail@example.com');
    expect(other).toMatchObject({ code: 3, stdout: '' });
    expect(other.problem().type).toBe('attempt-mismatch');
    expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
    const { body } = await all.call('GET', `/v1/orders/${orderId}`);
    const shown = (await cli('show', `#${orderId}`)).json();
    expect(shown).toMatchObject({ phase: 'decided', decision: 'pass', attempts: body.attempts });
  });

  it('with card data gets a card to the service and a result from the gateway, once', async () => {
    const orderId = anOrderId();
    const screened = await cli('screen', orderId, PRE_GATEWAY);
    expect(screened.json()).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'awaiting-gateway' });
    const run = await cli('gateway-result', orderId, 'pass', '--authcode', '123456');
    expect([run.code, run.json().phase]).toEqual([0, 'decided']);
    await all.until(orderId, ({ attempts }) => attempts[0].gateway?.sent !== undefined);
    expect(all.sandbox.control.ledger({ operation: 'gateway-response', invoice: orderId })).toHaveLength(1);
  });

  it('is charged back with every field, and canceled once for the same key', async () => {
    const orderId = await inReview();
    all.sandbox.control.decide(orderId, 'pass');
    await all.until(orderId, ({ phase }) => phase === 'decided');
    all.sandbox.control.cover(orderId, true);
    const fields = ['--reason-code', '10.4', '--due-date', '2099-01-31', '--reference-number', 'CB-77'];
    expect((await cli('chargeback', orderId, ...fields, '--inquiry')).code).toBe(0);
    const chargeback = {
      reason_code: '10.4',
      due_date: '2099-01-31',
      reference_number: 'CB-77',
      inquiry: 'true',
    };
    expect(all.sandbox.control.transactions(orderId)[0]?.chargebacks).toMatchObject([chargeback]);
    const cancel = () => cli('cancel', orderId, '--reason', 'asked', '--idempotency-key', 'k-1');
    const first = await cancel();
    expect(first.json()).toMatchObject({ kind: 'cancel', status: 'done', phase: 'canceled' });
    expect((await cancel()).json()).toEqual(first.json());
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId })).toHaveLength(1);
  });

  it('has a transaction that is read from the screening service, by its id and by its invoice number', async () => {
    const orderId = await inReview('other');
    const id = all.sandbox.control.transactions(orderId)[0]?.id ?? '';
    for (const name of [id, `#${orderId}`]) {
      await eventually(async () => {
        const run = await cli('transaction', name, '--integration', 'other');
        expect(run).toMatchObject({ code: 0, stderr: '' });
        expect(run.json()).toEqual({ id, decision: 'review', order: { integration: 'other', orderId } });
      });
    }
    const unknown = await cli('transaction', 'no-such-invoice');
    expect([unknown.code, unknown.problem().type]).toEqual([4, 'unknown-transaction']);
  });

  it('is decided by a person, in place of the service, and shown so', async () => {
    const orderId = await inReview();
    const refused = await cli('override', orderId, '--action', 'hold', '--reason', 'asked');
    expect([refused.code, refused.problem().errors[0].path]).toEqual([2, '--action']);
    const run = await cli('override', orderId, '--action', 'proceed', '--reason', 'the customer called');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.json()).toMatchObject({ orderId, decision: 'review', action: 'proceed' });
    const shown = await cli('show', orderId, '--table');
    expect(shown.stdout).toMatch(/^override +proceed, .* \(the customer called\)$/m);
    await cli('override', orderId, '--action', 'cancel', '--reason', 'the customer called again');
    await all.until(orderId, ({ phase }) => phase === 'canceled');
    const late = await cli('override', orderId, '--action', 'proceed', '--reason', 'too late');
    expect([late.code, late.problem().type]).toEqual([3, 'order-closed']);
  });

  it('with faults has each listed with its path; nothing is echoed, and nothing started', async () => {
    const orderId = anOrderId();
    const broken = { ...aTransaction(), amount: 'a-lot-of-money', curency_code: 'USD' };
    const run = await runCli(['screen', orderId], all.settings, JSON.stringify({ transaction: broken }));
    expect(run).toMatchObject({ code: 2, stdout: '' });
    const { type, errors } = run.problem();
    expect(type).toBe('invalid-request');
    const paths = errors.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(['transaction.amount', 'transaction.curency_code']));
    expect(run.stderr).not.toContain('a-lot-of-money');
    const shown = await cli('show', orderId);
    expect([shown.code, shown.stdout, shown.problem().type]).toEqual([4, '', 'unknown-order']);
  });
});

describe('several orders', () => {
  it('are acted on at once, found and written as CSV', async () => {
    const [one, other] = [await inReview(), await inReview()];
    const run = await cli('override', one, 'nowhere', other, '--action', 'proceed', '--reason', 'called');
    expect([run.code, run.stderr]).toEqual([4, '']);
    const lines = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { orderId: one, action: 'proceed' },
      { orderId: 'nowhere', problem: { type: 'unknown-order' } },
      { orderId: other, action: 'proceed' },
    ]);
    const filters = ['--find', other, '--due-within', '200', '--amount-from', '125.5', '--amount-to', '126'];
    await eventually(
      async () => {
        const listed = await cli('list', ...filters);
        expect(listed.json().orders).toMatchObject([{ orderId: other, action: 'proceed', amount: 125.5 }]);
        const table = await cli('list', ...filters, '--table');
        expect(table.stdout).toContain(other);
        expect(listed.stdout + table.stdout).not.toMatch(PERSONAL);
      },
      { timeoutMs: 20_000 },
    );
    expect((await cli('count', ...filters)).json()).toEqual({ open: 1, closed: 0 });
  });

  it('are all acted on though nobody reads the answers, and the exit code is the real one', async () => {
    const orders = [await inReview(), await inReview(), await inReview()];
    const acting = startCli(
      ['override', 'nowhere', ...orders, '--action', 'proceed', '--reason', 'called'],
      all.settings,
    );
    acting.readNoMore();
    expect((await acting.done).code).toBe(4);
    for (const orderId of orders)
      expect((await all.call('GET', `/v1/orders/${orderId}`)).body.action).toBe('proceed');
    const looking = startCli(['list'], all.settings);
    looking.readNoMore();
    expect(await looking.done).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('the process', () => {
  it('without a command shows its help and ends with 2; --help ends with 0', async () => {
    const none = await runCli([], {});
    expect([none.code, none.stdout]).toEqual([2, expect.stringContaining('Usage: order-screening')]);
    const help = await runCli(['show', '--help'], {});
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toContain('Usage: order-screening show');
  });

  it('writes words on demand, in colours on demand, also of what is wrong', async () => {
    const args = ['show', await inReview(), '--table'];
    const colored = await runCli(args, { ...all.settings, FORCE_COLOR: '1' });
    expect(colored.stdout).toContain('\u001b[33mreview\u001b[39m');
    const run = await runCli(['list', '--limit', '1000', '--table'], { NO_COLOR: '1', CI: '' });
    expect(run.stderr).toBe(
      'Error: See order-screening list --help (usage)\n  --limit: must be a whole number from 1 to 100\n',
    );
  });

  it.each([
    ['no JSON', '{"transaction": top-secret'],
    ['a list', '["top-secret"]'],
  ])('ends with 2 for %s on standard input, without echoing it', async (_what, stdin) => {
    const run = await runCli(['screen', anOrderId()], all.settings, stdin);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.problem().detail).toContain('Standard input');
    expect(run.stderr).not.toContain('top-secret');
  });

  it('ends with 2 for settings that have faults, all of them named', async () => {
    const env = { ...all.settings, SCREENING_CONFIG: 'nowhere.json', CARD_STASH_URL: 'ftp://top-secret' };
    const run = await runCli(['show', '1'], env);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.problem().errors.map(({ path }: { path: string }) => path)).toEqual([
      'SCREENING_CONFIG',
      'CARD_STASH_URL',
    ]);
    expect(run.stderr).not.toContain('top-secret');
  });

  it('refuses full card data that could reach no worker, and starts nothing', async () => {
    const orderId = anOrderId();
    const env = { ...all.settings, CARD_STASH_URL: undefined, CARD_STASH_KEYS: undefined };
    const run = await runCli(['screen', orderId, PRE_GATEWAY], env);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.problem().detail).toContain('CARD_STASH_URL');
    expect(run.stderr).not.toContain('4111');
    expect((await all.call('GET', `/v1/orders/${orderId}`)).status).toBe(404);
  });

  it('ends with 5 without the payload keys, and when Temporal is not there', async () => {
    const orderId = await inReview();
    const keyless = await runCli(['show', orderId], { ...all.settings, PAYLOAD_KEYS: undefined });
    expect(keyless).toMatchObject({ code: 5, stdout: '' });
    expect(keyless.problem()).toMatchObject({
      type: 'record-unreadable',
      detail: expect.stringContaining('set PAYLOAD_KEYS'),
    });
    const env = { ...all.settings, TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const away = await runCli(['screen', anOrderId()], env, orderJson('pass@example.com'));
    expect(away).toMatchObject({ code: 5, stdout: '' });
    expect(away.problem()).toMatchObject({ type: 'temporal-unreachable' });
  });
});
