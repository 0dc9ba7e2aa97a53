/** `order-screening` as a process of its own, over encrypted orders. What each command asks and answers is in `test/cli/`. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createDataConverter } from '../../../src/starter.ts';
import { aTransaction, withEmail } from '../../fixtures/transactions.ts';
import { freePort, withTestServer } from '../../support/index.ts';
import { stashIn, withRedis } from '../../support/servers/redis-server.ts';
import { runCli, startCli } from '../operator.ts';
import { anOrderId, withDeployment } from '../support.ts';

/** What the test order contains and a list must not contain. */
const PERSONAL = /@example\.com|203\.0\.113\.7|Ada|Main Street|555 0100/;
const PRE_GATEWAY = 'examples/orders/pre-gateway.json';

const key = randomBytes(32);
const server = withTestServer({ dataConverter: createDataConverter([{ id: 'one', key }]) });
const redis = withRedis();
const all = withDeployment(
  server,
  { default: {} },
  { env: () => ({ PAYLOAD_KEYS: `one:${key.toString('base64')}`, ...stashIn(redis) }) },
);

const cli = (...args: string[]) => runCli(args, all.settings);
const screen = (orderId: string, transaction: unknown, env: NodeJS.ProcessEnv = {}) =>
  runCli(['screen', orderId], { ...all.settings, ...env }, JSON.stringify({ transaction }));
describe('an order', () => {
  it('is screened once, shown as the API shows it, and refused with different content', async () => {
    const orderId = anOrderId();
    const first = await screen(orderId, aTransaction());
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.json()).toMatchObject({ orderId, attempt: 1, decision: 'pass', action: 'proceed' });
    expect((await screen(orderId, aTransaction())).json()).toEqual(first.json());
    const other = await screen(orderId, withEmail('fail@example.com'));
    expect(other).toMatchObject({ code: 3, stdout: '' });
    expect(other.problem().type).toBe('attempt-mismatch');
    expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
    const { attempts } = await all.read(orderId);
    const shown = (await cli('show', `#${orderId}`)).json();
    expect(shown).toMatchObject({ phase: 'decided', decision: 'pass', attempts });
  });

  it('with card data gets a card to the service and a result from the gateway, once', async () => {
    const orderId = anOrderId();
    const screened = await cli('screen', orderId, PRE_GATEWAY);
    expect(screened.json()).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'awaiting-gateway' });
    const run = await cli('gateway-result', orderId, 'pass', '--authcode', '123456');
    expect([run.code, run.json().phase]).toEqual([0, 'decided']);
    await all.until(orderId, ({ attempts }) => attempts[0].gateway?.sent !== undefined);
    expect(all.requests('gateway-response', orderId)).toHaveLength(1);
  });
});

it('orders are all acted on though nobody reads the answers, and the exit code is the real one', async () => {
  const orders = [await all.inReview(), await all.inReview(), await all.inReview()];
  const how = ['--action', 'proceed', '--reason', 'called'];
  const acting = startCli(['override', 'nowhere', ...orders, ...how], all.settings);
  acting.closeOutput();
  expect((await acting.done).code).toBe(4);
  for (const orderId of orders) expect(await all.read(orderId)).toMatchObject({ action: 'proceed' });
  const looking = startCli(['list'], all.settings);
  looking.closeOutput();
  expect(await looking.done).toMatchObject({ code: 0, stderr: '' });
});

describe('the process', () => {
  it('without a command shows its help and ends with 2; --help ends with 0', async () => {
    const stdout = expect.stringContaining('Usage: order-screening');
    expect(await runCli([], {})).toMatchObject({ code: 2, stdout });
    expect(await runCli(['show', '--help'], {})).toMatchObject({ code: 0, stdout, stderr: '' });
  });

  it('writes words on demand, in colours on demand, also of what is wrong', async () => {
    const args = ['show', await all.inReview(), '--table'];
    const colored = await runCli(args, { ...all.settings, FORCE_COLOR: '1' });
    expect(colored.stdout).toContain('\u001b[33mreview\u001b[39m');
    const run = await runCli(['list', '--limit', '1000', '--table'], { NO_COLOR: '1', CI: '' });
    const whole = await runCli(['list', '--limit', '1000'], all.settings);
    expect(colored.stdout + whole.stdout).not.toMatch(PERSONAL);
    expect(run.stderr).toBe(
      'Error: See order-screening list --help (usage)\n  --limit: must be a whole number from 1 to 100\n',
    );
  });

  it.each([
    ['no JSON', '{"transaction": top-secret', {}],
    ['a list', '["top-secret"]', {}],
    ['a faulty order', '{"transaction": {"amount": "top-secret"}}', {}],
    ['faulty settings', '', { SCREENING_CONFIG: 'nowhere.json', CARD_STASH_URL: 'ftp://top-secret' }],
  ])('ends with 2 for %s, echoes nothing and starts nothing', async (_what, stdin, env) => {
    const orderId = anOrderId();
    const run = await runCli(['screen', orderId], { ...all.settings, ...env }, stdin);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    const { detail, errors = [] } = run.problem();
    const paths = errors.map(({ path }: { path: string }) => path);
    expect([detail, ...paths].join()).toMatch(/Standard input|transaction\.amount|CONFIG,CARD_STASH_URL/);
    expect(run.stderr).not.toContain('top-secret');
    expect((await cli('show', orderId)).problem().type).toBe('unknown-order');
  });

  it('refuses full card data that could reach no worker, and starts nothing', async () => {
    const orderId = anOrderId();
    const env = { ...all.settings, CARD_STASH_URL: undefined, CARD_STASH_KEYS: undefined };
    const run = await runCli(['screen', orderId, PRE_GATEWAY], env);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.problem().detail).toContain('CARD_STASH_URL');
    expect(run.stderr).not.toContain('411111');
    expect((await all.call('GET', `/v1/orders/${orderId}`)).status).toBe(404);
  });

  it('ends with 5 without the payload keys, and when Temporal is not there', async () => {
    const keyless = await runCli(['show', await all.inReview()], {
      ...all.settings,
      PAYLOAD_KEYS: undefined,
    });
    expect(keyless).toMatchObject({ code: 5, stdout: '' });
    const detail = expect.stringContaining('set PAYLOAD_KEYS');
    expect(keyless.problem()).toMatchObject({ type: 'record-unreadable', detail });
    const away = { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const run = await screen(anOrderId(), aTransaction(), away);
    expect(run).toMatchObject({ code: 5, stdout: '' });
    expect(run.problem()).toMatchObject({ type: 'temporal-unreachable' });
  });
});
