/** Orders that are adopted, by HTTP and by a file, each from a transaction that another system has screened. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually, withTestServer } from '../../support/index.ts';
import { ago, jsonLines, runCli, screenedByPlugin, untilEnded } from '../operator.ts';
import { anOrderId, type Reply, withDeployment } from '../support.ts';

const HOUR = 3_600_000;
const GOOD = 43;

const server = withTestServer();
const all = withDeployment(server, { default: { poll: { first: '30s', factor: 1, max: '30s' } } });

const adopt = (orderId: string, transactionId: string, more = {}) =>
  all.call('POST', `/v1/orders/${orderId}/adopt`, { transactionId, screenedAt: ago(HOUR), ...more });
const said = ({ status, body }: Reply) => `${status} ${body.type ?? 'fine'}`;

it('a file of fifty orders is looked at by a dry run, then adopted, then told the same again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-adopt-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const row = (transactionId: string, said: string, screenedAt = ago(HOUR)) => ({
    orderId: anOrderId(),
    transactionId,
    said,
    screenedAt,
  });
  const reviews = await Promise.all(Array.from({ length: GOOD }, () => screenedByPlugin(all)));
  const good = [
    ...reviews.map((id) => row(id, 'review')),
    row(await screenedByPlugin(all, 'failed', 'fail'), 'fail'),
  ];
  const twice = await screenedByPlugin(all);
  const faulty = [
    row(randomUUID(), 'unknown-transaction'),
    row('4711', 'invalid-request'),
    row(randomUUID(), 'invalid-request', '31.01.2030'),
    row(twice, 'invalid-request'),
    row(twice, 'invalid-request'),
    row(await screenedByPlugin(all, 'broken', 'error'), 'transaction-without-decision'),
  ];
  const rows = [...good, ...faulty];
  const path = join(directory, 'orders.csv');
  const lines = rows.map((one) => [one.orderId, one.transactionId, one.screenedAt, '12.50'].join(','));
  await writeFile(path, ['orderId,transactionId,screenedAt,amount', ...lines, ''].join('\n'));

  /** What a run said of each line, and how many it adopted. */
  const adoptFile = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(['adopt', '--file', path, ...args], all.settings);
    const answers = jsonLines(stdout);
    const bySaid = new Map(answers.map((one) => [one.orderId, one.problem?.type ?? one.decision]));
    expect(bySaid).toEqual(new Map(rows.map((one) => [one.orderId, one.said])));
    return { code, stderr, adopted: answers.filter((one) => one.adopted).length };
  };
  /** How many of the orders exist. */
  const existing = async () => {
    const replies = await Promise.all(rows.map(({ orderId }) => all.call('GET', `/v1/orders/${orderId}`)));
    return replies.filter(({ status }) => status === 200).length;
  };
  expect(await adoptFile('--dry-run')).toMatchObject({ code: 3, adopted: 0 });
  expect(await existing()).toBe(0);

  const stderr = expect.stringContaining(`50 lines: ${faulty.length} refused`);
  expect(await adoptFile()).toMatchObject({ code: 3, adopted: good.length, stderr });

  // An analyst decides meanwhile: an adopted order keeps its answer.
  const [first] = good;
  all.sandbox.control.decide(first?.transactionId ?? '', 'pass');
  await all.until(first?.orderId ?? '', ({ decision }) => decision === 'pass');
  await adoptFile();
  expect(await existing()).toBe(good.length);
  expect(all.sandbox.control.ledger({ operation: 'create-transaction' })).toHaveLength(GOOD + 3);
}, 120_000);

it('an order that is adopted gets the same answer again, also when it is over', async () => {
  const orderId = anOrderId();
  const transactionId = await screenedByPlugin(all, orderId);
  const { body } = await adopt(orderId, transactionId);
  expect(await adopt(orderId, transactionId.toUpperCase())).toMatchObject({ status: 200, body });
  await all.call('POST', `/v1/orders/${orderId}/cancel`, {});
  await untilEnded(server.client, `order:default:${orderId}`);
  expect(await adopt(orderId, transactionId)).toMatchObject({ status: 200, body });
  expect(said(await adopt(orderId, await screenedByPlugin(all)))).toBe('409 /problems/order-exists');
});

it('an order whose invoice number isn’t its id is found by it, and not adopted without it', async () => {
  const [orderId, number] = [anOrderId(), anOrderId()];
  const transactionId = await screenedByPlugin(all, number);
  await screenedByPlugin(all, orderId);
  expect(said(await adopt(orderId, transactionId))).toBe('409 /problems/invoice-mismatch');
  expect(said(await adopt(orderId, transactionId, { invoiceNumber: `#${number}` }))).toBe('200 fine');
  const order = await all.call('GET', `/v1/orders/${orderId}`);
  expect(order.body.transactions).toMatchObject([{ id: transactionId, invoiceNumber: number }]);
  await eventually(async () => {
    const { body } = await all.call('GET', `/v1/orders?find=${number}`);
    expect(body.orders).toMatchObject([{ orderId }]);
  });
});

describe('nothing is started', () => {
  it('by a transaction that the service does not know, and the order may be screened', async () => {
    const orderId = anOrderId();
    expect(said(await adopt(orderId, randomUUID()))).toBe('404 /problems/unknown-transaction');
    expect(said(await all.call('GET', `/v1/orders/${orderId}`))).toBe('404 /problems/unknown-order');
    expect(await all.screen(orderId)).toMatchObject({ status: 200, body: { decision: 'pass' } });
    expect(all.requests('create-transaction', orderId)).toHaveLength(1);
  });

  it('while the service doesn’t answer', async () => {
    const orderId = anOrderId();
    const transactionId = await screenedByPlugin(all, orderId);
    const fault = { operation: 'status-by-url', kind: '5xx-before-commit', times: 1 } as const;
    all.sandbox.control.setFaults({ faults: [{ ...fault, match: { invoice: orderId } }] });
    expect(said(await adopt(orderId, transactionId))).toBe('503 /problems/screening-service-unavailable');
    expect(said(await adopt(orderId, transactionId))).toBe('200 fine');
  });

  it('by another order’s transaction', async () => {
    const [orderId, other] = [anOrderId(), anOrderId()];
    const transactionId = await screenedByPlugin(all, orderId);
    await adopt(orderId, transactionId);
    await eventually(async () => {
      // The first tries may find nothing yet, and are refused by the invoice number.
      const answer = await adopt(other, transactionId);
      expect(said(answer)).toBe('409 /problems/transaction-taken');
      expect(answer.body.detail).toContain(orderId);
    });
  });
});
