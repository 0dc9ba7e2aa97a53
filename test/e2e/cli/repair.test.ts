/** The recovery of an order, as docs/operations.md says: reset by `repair`, else adopt. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually, freePort, spawnProcess, withTestServer } from '../../support/index.ts';
import { ago, describeRaw, orderOf, runCli, temporalCli } from '../operator.ts';
import { anOrderId, withDeployment } from '../support.ts';

const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
const [, section = ''] = page.split('## Recover an order\n');
/** The commands of the page's section, in their order. */
const commands = [...(section.split('\n## ')[0] ?? '').matchAll(/^npx order-screening (.+)$/gm)].map(
  ([, line = '']) => line,
);

// A run that a reset made is not replayed by its own; the runs before it are broken on purpose.
const server = withTestServer({ except: () => true });
const temporal = temporalCli(server);
const all = withDeployment(server, { default: {} }, { webhooks: false, worker: false });

const created = (orderId: string) => all.sandbox.control.transactions(orderId).length;
const cli = (line: string, stdin = '') => runCli(line.split(' '), all.settings, stdin);
const recheck = (orderId: string, ...input: string[]) =>
  temporal('workflow', 'signal', ...orderOf(orderId), '--name', 'recheck', ...input);

/** The page's command of that name, with this order in place of its own. */
function fromThePage(name: string, orderId: string): string {
  const line = commands.find((one) => one.startsWith(name));
  if (line === undefined) throw new Error(`the page has no command ${name}`);
  return `${line.replace('1001', orderId)} --json`;
}

const untilItFails = (orderId: string) =>
  eventually(
    async () => {
      const { pendingWorkflowTask } = await describeRaw(server.client, `order:default:${orderId}`);
      expect(pendingWorkflowTask?.attempt).toBeGreaterThanOrEqual(3);
    },
    { timeoutMs: 60_000 },
  );

describe('an order whose history does not replay', () => {
  const orderId = anOrderId();

  it('is reset by repair to the task from which it goes on, and nothing is created twice', async () => {
    const port = await freePort();
    const planted = await spawnProcess('test/e2e/planted/worker.ts', {
      env: { ...all.settings, METRICS_PORT: String(port) },
      readyWhen: /worker is ready/,
    });
    await all.screen(orderId, 'review');
    await recheck(orderId, '--input', '"plant"');
    await eventually(async () => {
      const shown = await temporal('workflow', 'show', ...orderOf(orderId), '--output', 'json');
      expect(shown).toContain('2592000s');
    });
    // One more task after it, so that the last completed one is not the good one.
    await recheck(orderId);
    await all.until(orderId, ({ phase }) => phase === 'review');
    await planted.stop();
    await all.startWorker();
    all.sandbox.control.decide(orderId, 'pass');
    await recheck(orderId);
    await untilItFails(orderId);

    const repaired = await cli(fromThePage('repair', orderId));
    expect(repaired.json()).toMatchObject({
      orderId,
      outcome: 'repaired',
      condition: { kind: 'failing', cause: expect.stringMatching(/nondeterminism|TMPRL1100/i) },
      newRunId: expect.any(String),
    });
    expect(repaired.code).toBe(0);
    // The newest task is behind the planted command, so that one reset is not enough.
    expect(repaired.json().resets).toBeGreaterThan(1);
    const order = await all.until(orderId, ({ decision }) => decision === 'pass');
    expect(order).toMatchObject({ phase: 'decided', action: 'proceed' });
    expect(created(orderId)).toBe(1);
  }, 180_000);

  it('is healthy then, so that repair refuses it unless it is forced', async () => {
    const refused = await cli(`repair ${orderId} --json`);
    const healthy = { outcome: 'refused', condition: { kind: 'healthy' }, resets: 0 };
    expect([refused.code, refused.json()]).toMatchObject([3, healthy]);
    const forced = await cli(`repair ${orderId} --force --json`);
    expect([forced.code, forced.json()]).toMatchObject([0, { outcome: 'repaired', resets: 1 }]);
    expect((await all.until(orderId, ({ decision }) => decision === 'pass')).phase).toBe('decided');
    expect(created(orderId)).toBe(1);
  }, 60_000);
});

it('an order that was terminated is named by doctor, and goes on after repair', async () => {
  const orderId = await all.inReview();
  await temporal('workflow', 'terminate', ...orderOf(orderId), '--reason', 'by mistake');
  const doctor = fromThePage('doctor', orderId);
  await eventually(async () => expect((await cli(doctor)).stdout).toContain('ended too early'), {
    timeoutMs: 30_000,
  });
  // A refused adoption under its id is a later run, which failed.
  const file = `orderId,transactionId,screenedAt\n${orderId},${randomUUID()},${ago(60_000)}\n`;
  expect(await cli('adopt --file - --json', file)).toMatchObject({ code: 3 });
  // The order keeps its record and its id: a repeat of the checkout creates no second transaction.
  const { body } = await all.call('GET', `/v1/orders/${orderId}`);
  expect(body).toMatchObject({ phase: 'review', decision: 'review' });
  expect(await all.screen(orderId, 'review')).toMatchObject({
    status: 409,
    body: { type: '/problems/order-closed' },
  });
  expect((await cli(doctor)).stdout).toContain('ended too early');
  expect((await cli(fromThePage('repair', orderId))).json()).toMatchObject({
    outcome: 'repaired',
    condition: { kind: 'lost', status: 'TERMINATED' },
  });
  all.sandbox.control.decide(orderId, 'fail');
  await recheck(orderId);
  await all.until(orderId, ({ phase }) => phase === 'canceled');
  expect(created(orderId)).toBe(1);
}, 120_000);

it('an order that was terminated and adopted under a different id is not lost any more', async () => {
  const orderId = await all.inReview();
  const [transaction] = all.sandbox.control.transactions(orderId);
  await temporal('workflow', 'terminate', ...orderOf(orderId), '--reason', 'by mistake');
  const named = async () => (await cli(fromThePage('doctor', orderId))).stdout.includes(orderId);
  await eventually(async () => expect(await named()).toBe(true), { timeoutMs: 30_000 });
  const file = `orderId,transactionId,screenedAt\n${orderId}-b,${transaction?.id},${ago(60_000)}\n`;
  expect(await cli('adopt --file - --json', file)).toMatchObject({ code: 0 });
  await eventually(async () => expect(await named()).toBe(false), { timeoutMs: 30_000 });
  const repaired = await cli(fromThePage('repair', orderId));
  const refused = { outcome: 'refused', condition: { kind: 'adopted', status: 'TERMINATED' } };
  expect([repaired.code, repaired.json()]).toMatchObject([3, refused]);
}, 120_000);

it('an order that was terminated and then canceled is not repaired: it would not know of the cancel', async () => {
  const orderId = await all.inReview();
  await temporal('workflow', 'terminate', ...orderOf(orderId), '--reason', 'by mistake');
  const canceled = await all.call('POST', `/v1/orders/${orderId}/cancel`, {});
  expect(canceled).toMatchObject({ status: 200, body: { status: 'done' } });
  const repaired = await cli(fromThePage('repair', orderId));
  const refused = { outcome: 'refused', condition: { kind: 'canceled', status: 'TERMINATED' } };
  expect([repaired.code, repaired.json()]).toMatchObject([3, refused]);
}, 120_000);

it('an order that was deleted is adopted from its transaction', async () => {
  const orderId = anOrderId();
  const { body } = await all.screen(orderId, 'review');
  await temporal('workflow', 'delete', ...orderOf(orderId));
  await eventually(async () => expect((await all.call('GET', `/v1/orders/${orderId}`)).status).toBe(404), {
    timeoutMs: 30_000,
  });
  expect(await cli(fromThePage('repair', orderId))).toMatchObject({ code: 4 });
  const file = `orderId,transactionId,screenedAt\n${orderId},${body.transactionId},${ago(60_000)}\n`;
  const adopted = await cli(fromThePage('adopt', orderId).replace('orders.csv', '-'), file);
  expect(adopted.json()).toMatchObject({ orderId, adopted: true });
  expect(await all.until(orderId, ({ phase }) => phase === 'review')).toMatchObject({ decision: 'review' });
  expect(created(orderId)).toBe(1);
}, 120_000);
