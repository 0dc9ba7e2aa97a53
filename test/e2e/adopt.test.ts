/** Orders that are adopted, by HTTP and by a file, each from a transaction that somebody else has screened. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { ago, screenedByPlugin } from './plugin.ts';
import { runCli } from './run-cli.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const HOUR = 3_600_000;
const GOOD = 44;

const server = withTestServer();
let all: Deployment;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'order-screening-adopt-'));
  all = await deploy(server.address, { default: { poll: { first: '30s', factor: 1, max: '30s' } } });
});
afterAll(async () => {
  await all?.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Row {
  orderId: string;
  transactionId: string;
  screenedAt?: string;
}

/** @returns the rows as a plugin's table is exported */
async function aFile(rows: readonly Row[]): Promise<string> {
  const path = join(directory, `${randomUUID()}.csv`);
  const lines = rows.map(({ orderId, transactionId, screenedAt = ago(HOUR) }) =>
    [orderId, transactionId, screenedAt, '12.50'].join(','),
  );
  await writeFile(path, ['orderId,transactionId,screenedAt,amount', ...lines, ''].join('\n'));
  return path;
}

/** @returns orders in review that a plugin has left */
async function left(count: number): Promise<Row[]> {
  const orderIds = Array.from({ length: count }, anOrderId);
  return Promise.all(
    orderIds.map(async (orderId) => ({ orderId, transactionId: await screenedByPlugin(all, orderId) })),
  );
}

/** What a run said of each line. */
async function adoptFile(path: string, ...args: string[]) {
  const { code, stdout, stderr } = await runCli(['adopt', '--file', path, ...args], all.settings);
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const said = new Map(lines.map((one) => [one.orderId, one.problem?.type ?? one.decision]));
  return { code, said, adopted: lines.filter((one) => one.adopted).length, stderr };
}

/** @returns those that Temporal has, and has not ended */
async function openOf(orderIds: readonly string[]): Promise<string[]> {
  const statuses = await Promise.all(
    orderIds.map(async (orderId) => {
      const handle = server.client.workflow.getHandle(`order:default:${orderId}`);
      return handle.describe().then(
        ({ status }) => status.name,
        () => undefined,
      );
    }),
  );
  return orderIds.filter((_orderId, index) => statuses[index] === 'RUNNING');
}

describe('a file of fifty orders', () => {
  it('is looked at by a dry run, then adopted, then told the same again', async () => {
    const good = await left(GOOD);
    const [first, second] = good;
    const failed = { orderId: anOrderId(), transactionId: await screenedByPlugin(all, 'failed', 'fail') };
    const faulty: [Row, string][] = [
      [{ orderId: anOrderId(), transactionId: randomUUID() }, 'unknown-transaction'],
      [{ orderId: anOrderId(), transactionId: '4711' }, 'invalid-request'],
      [{ orderId: anOrderId(), transactionId: randomUUID(), screenedAt: '31.01.2030' }, 'invalid-request'],
      [{ orderId: anOrderId(), transactionId: first?.transactionId ?? '' }, 'invalid-request'],
      [
        { orderId: anOrderId(), transactionId: await screenedByPlugin(all, 'broken', 'error') },
        'transaction-without-decision',
      ],
    ];
    const path = await aFile([...good, failed, ...faulty.map(([row]) => row)]);
    const expected = new Map([
      ...good.map(({ orderId }) => [orderId, 'review'] as const),
      [failed.orderId, 'fail'],
      ...faulty.map(([{ orderId }, type]) => [orderId, type] as const),
    ]);
    const orderIds = [...expected.keys()];

    const dry = await adoptFile(path, '--dry-run');
    expect(dry).toMatchObject({ code: 3, adopted: 0 });
    expect(dry.said).toEqual(expected);
    expect(await openOf(orderIds)).toEqual([]);

    const real = await adoptFile(path);
    expect(real).toMatchObject({ code: 3, adopted: GOOD + 1 });
    expect(real.said).toEqual(expected);
    expect(real.stderr).toContain(`50 lines: ${faulty.length} refused`);

    // An analyst decides meanwhile: what was adopted keeps its answer.
    all.sandbox.control.decide(second?.transactionId ?? '', 'pass');
    await all.until(second?.orderId ?? '', ({ decision }) => decision === 'pass');
    const again = await adoptFile(path);
    expect(again.said).toEqual(expected);
    expect(await openOf(orderIds)).toEqual(orderIds.slice(0, GOOD + 1));
    expect(all.sandbox.control.ledger({ operation: 'create-transaction' })).toHaveLength(GOOD + 2);
  }, 120_000);
});

const adopt = (orderId: string, transactionId: string) =>
  all.call('POST', `/v1/orders/${orderId}/adopt`, { transactionId, screenedAt: ago(HOUR) });
const creates = (invoice: string) => all.sandbox.control.ledger({ operation: 'create-transaction', invoice });
const said = ({ status, body }: Awaited<ReturnType<typeof adopt>>) => `${status} ${body.type ?? 'fine'}`;

it('an order that is adopted gets the same answer again, also when it is over', async () => {
  const orderId = anOrderId();
  const transactionId = await screenedByPlugin(all, orderId);
  const first = await adopt(orderId, transactionId);
  expect(await adopt(orderId, transactionId.toUpperCase())).toMatchObject({
    status: 200,
    body: first.body,
  });
  await all.call('POST', `/v1/orders/${orderId}/cancel`, {});
  await server.client.workflow.getHandle(`order:default:${orderId}`).result();
  expect(await adopt(orderId, transactionId)).toMatchObject({ status: 200, body: first.body });
  const other = await screenedByPlugin(all, anOrderId());
  expect(said(await adopt(orderId, other))).toBe('409 /problems/order-exists');
});

describe('nothing is started', () => {
  it('by a transaction that the service does not know, and the order may be screened', async () => {
    const orderId = anOrderId();
    expect(said(await adopt(orderId, randomUUID()))).toBe('404 /problems/unknown-transaction');
    expect(said(await all.call('GET', `/v1/orders/${orderId}`))).toBe('404 /problems/unknown-order');
    expect(said(await all.call('POST', `/v1/orders/${orderId}/cancel`, {}))).toBe(
      '404 /problems/unknown-order',
    );
    const body = { transaction: withEmail('pass@example.com') };
    const screened = await all.call('POST', `/v1/orders/${orderId}/screening`, body);
    expect(screened).toMatchObject({ status: 200, body: { decision: 'pass' } });
    expect(creates(orderId)).toHaveLength(1);
  });

  it('while the service doesn’t answer', async () => {
    const orderId = anOrderId();
    const transactionId = await screenedByPlugin(all, orderId);
    all.sandbox.control.setFaults({
      faults: [
        { operation: 'status-by-url', kind: '5xx-before-commit', times: 1, match: { invoice: orderId } },
      ],
    });
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
