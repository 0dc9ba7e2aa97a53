/** `order-screening adopt` as a process of its own, over orders that a plugin has left. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
async function adopt(path: string, ...args: string[]) {
  const { code, stdout, stderr } = await runCli(['adopt', '--file', path, ...args], all.settings);
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const said = new Map(lines.map((one) => [one.orderId, one.problem?.type ?? one.decision]));
  return { code, said, adopted: lines.filter((one) => one.adopted).length, stderr };
}

const open = async () => {
  const { workflow } = server.client;
  let count = 0;
  for await (const _ of workflow.list({
    query: "ExecutionStatus = 'Running' AND WorkflowType = 'screenOrder'",
  }))
    count += 1;
  return count;
};

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
    const before = await open();

    const dry = await adopt(path, '--dry-run');
    expect(dry).toMatchObject({ code: 3, adopted: 0 });
    expect(dry.said).toEqual(expected);
    expect(await open()).toBe(before);

    const real = await adopt(path);
    expect(real).toMatchObject({ code: 3, adopted: GOOD + 1 });
    expect(real.said).toEqual(expected);
    expect(real.stderr).toContain(`50 of 50 lines: ${faulty.length} refused`);

    // An analyst decides meanwhile: what was adopted keeps its answer.
    all.sandbox.control.decide(second?.transactionId ?? '', 'pass');
    await all.until(second?.orderId ?? '', ({ decision }) => decision === 'pass');
    const again = await adopt(path);
    expect(again.said).toEqual(expected);
    await eventually(async () => expect(await open()).toBe(before + GOOD + 1));
    expect(all.sandbox.control.ledger({ operation: 'create-transaction' })).toHaveLength(GOOD + 2);
  }, 120_000);
});
