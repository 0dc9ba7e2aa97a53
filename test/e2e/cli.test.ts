import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTransaction, withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, withTestServer } from '../support/index.ts';
import { type RedisServer, redisInstalled, startRedis } from '../support/redis-server.ts';
import { type CliRun, runCli, startCli } from './run-cli.ts';
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
      short: { cancelWindow: '3s', autoCancel: false, reviewLeadTime: '300ms', recheckLeadTime: '0s' },
      other: {},
    },
    { settings: { ...cards } },
  );
});
afterAll(async () => {
  await all?.stop();
  await redis?.stop();
});

const cli = (...args: string[]) => runCli(args, all.settings);
const order = (email: string, more: object = {}) =>
  JSON.stringify({ transaction: withEmail(email), ...more });
const screen = (orderId: string, email: string, ...args: string[]): Promise<CliRun> =>
  runCli(['screen', orderId, ...args], all.settings, order(email));

/** What stands in the test order and must not stand in a list. */
const PERSONAL = /@example\.com|203\.0\.113\.7|Ada|Main Street|555 0100/;

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
    const run = await runCli(['screen', anOrderId()], env, order('pass@example.com'));
    expect(run).toMatchObject({ code: 5, stdout: '' });
    expect(run.problem()).toMatchObject({ type: 'temporal-unreachable' });
  });
});

describe('retry', () => {
  it('screens the next attempt of a declined order', async () => {
    const orderId = anOrderId();
    expect((await screen(orderId, 'fail@example.com')).json()).toMatchObject({ action: 'decline' });
    const run = await runCli(['retry', orderId, '--attempt', '2'], all.settings, order('pass@example.com'));
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ attempt: 2, decision: 'pass', action: 'proceed' });
  });

  it('ends with 3 out of turn, and with 2 without the attempt', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const retry = (...args: string[]) =>
      runCli(['retry', orderId, ...args], all.settings, order('pass@example.com'));
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

describe('show', () => {
  it('is the same state as the API shows', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const run = await cli('show', `#${orderId}`);
    expect(run.code).toBe(0);
    const { body } = await all.call('GET', `/v1/orders/${orderId}`);
    expect(run.json()).toMatchObject({ phase: 'review', decision: 'review', attempts: body.attempts });
  });

  it('is words and a table on demand, in colours on demand', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const words = await runCli(['show', orderId, '--table'], { ...all.settings, CI: '', NO_COLOR: '1' });
    expect(words.code).toBe(0);
    expect(words.stdout).toMatch(/^order\s+e2e-.*\nphase\s+review, since .*\ndecision\s+review\n/);
    expect(words.stdout).toContain('│ attempt │ decision │');
    const colored = await runCli(['show', orderId, '--table'], { ...all.settings, FORCE_COLOR: '1' });
    expect(colored.stdout).toContain('\u001b[33mreview\u001b[39m');
  });

  it('ends with 4 for an unknown order and for an unknown integration', async () => {
    const run = await cli('show', anOrderId());
    expect([run.code, run.stdout, run.problem().type]).toEqual([4, '', 'unknown-order']);
    const nowhere = await cli('show', anOrderId(), '--integration', 'nowhere');
    expect([nowhere.code, nowhere.problem().type]).toEqual([4, 'unknown-integration']);
  });
});

describe('list', () => {
  it('filters as the API does, goes on by cursor, and shows nothing personal', async () => {
    const ids = [anOrderId(), anOrderId()];
    for (const id of ids) await screen(id, 'review@example.com', '--integration', 'other');
    const filters = ['--integration', 'other', '--phase', 'review', '--decision', 'review', '--no-attention'];
    const found = await eventually(async () => {
      const run = await cli('list', ...filters);
      expect(
        run
          .json()
          .orders.map((one: { orderId: string }) => one.orderId)
          .sort(),
      ).toEqual(expect.arrayContaining([...ids].sort()));
      return run;
    });
    expect(found.code).toBe(0);
    expect(found.stdout).not.toMatch(PERSONAL);
    const first = (await cli('list', ...filters, '--limit', '1')).json();
    const second = (await cli('list', ...filters, '--limit', '1', '--cursor', first.cursor)).json();
    expect(first.orders).toHaveLength(1);
    expect(second.orders).toHaveLength(1);
    expect(second.orders[0].orderId).not.toBe(first.orders[0].orderId);
    const table = await cli('list', ...filters, '--table');
    expect(table.stdout).toContain(ids[0]);
    expect(table.stdout).not.toMatch(PERSONAL);
    expect((await cli('list', '--integration', 'other', '--attention')).json().orders).toEqual([]);
  });

  it('lists all wrong filters at once, by their options, without a value', async () => {
    const run = await cli('list', '--phase', 'top-secret', '--limit', '0', '--integration', 'top:secret');
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(
      run
        .problem()
        .errors.map(({ path }: { path: string }) => path)
        .sort(),
    ).toEqual(['--integration', '--limit', '--phase']);
    expect(run.stderr).not.toMatch(/top.secret/);
  });
});

describe('watch', () => {
  it('writes a line of JSON for each change of an order, until it rests', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const watch = startCli(['watch', orderId, '--timeout', '30', '--every', '0.1'], all.settings);
    await eventually(() => expect(watch.lines()).toHaveLength(1), { timeoutMs: 20_000 });
    all.sandbox.control.decide(orderId, 'pass');
    expect((await watch.done).code).toBe(0);
    const lines = watch.lines();
    expect(lines[0]).toMatchObject({ orderId, phase: 'review', decision: 'review', action: 'hold' });
    expect(lines.at(-1)).toMatchObject({ orderId, phase: 'decided', decision: 'pass', action: 'proceed' });
  });

  it('waits for the cancel that follows a decision', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const watch = startCli(['watch', orderId, '--timeout', '30', '--every', '0.05'], all.settings);
    await eventually(() => expect(watch.lines()).toHaveLength(1), { timeoutMs: 20_000 });
    all.sandbox.control.decide(orderId, 'fail');
    expect((await watch.done).code).toBe(0);
    expect(watch.lines().at(-1)).toMatchObject({
      phase: 'canceled',
      actions: [{ kind: 'cancel', status: 'done' }],
    });
  });

  it('ends with 7 when the order does not rest in time, and with 4 for an unknown one', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const run = await cli('watch', orderId, '--timeout', '0.5', '--every', '0.1', '--table');
    expect(run.code).toBe(7);
    expect(run.stdout).toMatch(/ {2}review {2}decision .*review/);
    expect((await cli('watch', anOrderId(), '--timeout', '5')).code).toBe(4);
  });

  it('of the list shows who comes and who is gone', async () => {
    const orderId = anOrderId();
    const args = [
      'watch',
      '--integration',
      'other',
      '--phase',
      'review',
      '--timeout',
      '60',
      '--every',
      '0.2',
    ];
    const watch = startCli(args, all.settings);
    await screen(orderId, 'review@example.com', '--integration', 'other');
    const mine = () => watch.lines().filter((line) => line.orderId === orderId);
    await eventually(() => expect(mine()[0]).toMatchObject({ phase: 'review' }), { timeoutMs: 20_000 });
    await cli('cancel', orderId, '--integration', 'other');
    await eventually(() => expect(mine().at(-1)).toMatchObject({ gone: true }), { timeoutMs: 20_000 });
    expect(JSON.stringify(watch.lines())).not.toMatch(PERSONAL);
    watch.stop();
    await watch.done;
  });
});

describe('cancel', () => {
  it('cancels with the service, once for the same key', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const args = ['cancel', orderId, '--reason', 'the customer asked', '--idempotency-key', 'k-1'];
    const first = await cli(...args);
    expect(first.code).toBe(0);
    expect(first.json()).toMatchObject({ kind: 'cancel', status: 'done', phase: 'canceled' });
    expect((await cli(...args)).json()).toEqual(first.json());
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId })).toHaveLength(1);
  });

  it('ends with 3 after the window, and says when that was', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com', '--integration', 'short');
    const { cancelBy } = await all
      .until(orderId, ({ phase }) => phase === 'closed', 'short')
      .then(({ attempts }) => attempts[0]);
    const run = await cli('cancel', orderId, '--integration', 'short');
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.problem()).toMatchObject({ type: 'cancel-window-closed', cancelBy });
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId })).toHaveLength(0);
  });

  it('ends with 7 when the service is down for longer than 10 s, and goes on', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    all.sandbox.control.setFaults({
      faults: [{ operation: 'cancel-transaction', kind: '5xx-before-commit', match: { invoice: orderId } }],
    });
    const run = await cli('cancel', orderId);
    expect(run.code).toBe(7);
    expect(run.json()).toMatchObject({ status: 'requested' });
    all.sandbox.control.clearFaults();
    await all.until(orderId, ({ phase }) => phase === 'canceled');
  });
});

describe('the other actions', () => {
  it('report-fraud asks the analysts', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await cli('report-fraud', orderId, '--reason', 'the card holder called');
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ kind: 'report-fraud', status: 'done' });
    expect(all.sandbox.control.ledger({ operation: 'report-fraud', invoice: orderId })).toHaveLength(1);
  });

  it('chargeback sends its fields, and lists every wrong one by its option', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    all.sandbox.control.cover(orderId, true);
    const wrong = await cli('chargeback', orderId, '--due-date', 'soon', '--transaction-id', 'that one');
    expect(wrong.code).toBe(2);
    expect(
      wrong
        .problem()
        .errors.map(({ path }: { path: string }) => path)
        .sort(),
    ).toEqual(['--due-date', '--reason-code', '--transaction-id']);
    const fields = ['--reason-code', '10.4', '--due-date', '2099-01-31', '--reference-number', 'CB-77'];
    const run = await cli('chargeback', orderId, ...fields, '--inquiry');
    expect(run.code).toBe(0);
    expect(all.sandbox.control.transactions(orderId)[0]?.chargebacks).toEqual([
      expect.objectContaining({
        reason_code: '10.4',
        due_date: '2099-01-31',
        reference_number: 'CB-77',
        inquiry: 'true',
      }),
    ]);
  });

  it('chargeback ends with 3 when the service refuses it, in its words', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'fail@example.com');
    const run = await cli('chargeback', orderId, '--reason-code', '10.4', '--due-date', '2099-01-31');
    expect(run.code).toBe(3);
    expect(run.problem()).toMatchObject({ type: 'refused-by-screening-service' });
    expect(run.problem().serviceMessage).toEqual(expect.any(String));
  });

  it('customer-code attaches the code', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await cli('customer-code', orderId, 'PHONE-4711');
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ kind: 'customer-code', status: 'done' });
    expect(JSON.stringify(all.sandbox.control.customerCodes())).toContain('PHONE-4711');
  });

  it('recheck makes the order read its decision', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await cli('recheck', orderId);
    expect([run.code, run.json()]).toEqual([0, { status: 'requested' }]);
    await all.until(orderId, ({ lastRead }) => lastRead?.source === 'operator');
  });

  it('acknowledge clears what needs attention', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com', '--integration', 'short');
    await all.until(orderId, ({ attention }) => attention.length > 0, 'short');
    const run = await cli('acknowledge', orderId, '--integration', 'short', '--reason', 'looked at');
    expect([run.code, run.json()]).toEqual([0, { cleared: expect.any(Number) }]);
    expect(run.json().cleared).toBeGreaterThan(0);
  });
});

describe('the command line', () => {
  it('without a command shows its help, and ends with 2', async () => {
    const { code, stdout } = await runCli([], {});
    expect(code).toBe(2);
    expect(stdout).toContain('Usage: order-screening');
  });

  it('--help ends with 0', async () => {
    const { code, stdout, stderr } = await runCli(['watch', '--help'], {});
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Usage: order-screening watch');
  });

  it.each([
    [['shwo', '1'], 'unknown command'],
    [['show'], 'missing required argument'],
    [['show', '1', 'top-secret'], 'too many arguments'],
    [['cancel', '1', '--reson=top-secret'], "unknown option '--reson'"],
    [['acknowledge', '1'], 'acknowledge --help'],
  ])('%j is bad usage, told as JSON, with 2', async (args, words) => {
    const run = await runCli(args, all.settings);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.problem()).toMatchObject({ type: 'usage', detail: expect.stringContaining(words) });
    expect(run.stderr).not.toContain('top-secret');
  });

  it('says in words what is wrong when words are asked for', async () => {
    const run = await runCli(['list', '--limit', '1000', '--table'], { ...all.settings, NO_COLOR: '1' });
    expect(run.stderr).toBe(
      'Error: See order-screening list --help (usage)\n  --limit: must be a whole number from 1 to 100\n',
    );
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
});
