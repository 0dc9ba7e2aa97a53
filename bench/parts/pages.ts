/**
 * Pages: how long the server takes for each page while many orders are open. They are started without a worker, which needs none of them,
 * on the server of `docker-compose.yml`: the database makes the lists.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { orderWorkflowId, TASK_QUEUE } from '../../src/contract/ids.ts';
import { SCREEN_ORDER } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/order/state.ts';
import { recordOf } from '../../src/order/view/bounded-record.ts';
import { memoOf } from '../../src/order/view/order-memo.ts';
import { searchAttributesOf } from '../../src/order/view/search-attributes.ts';
import { anOrder, START } from '../../test/fixtures/orders.ts';
import { aTransaction } from '../../test/fixtures/transactions.ts';
import { startTemporalCluster } from '../../test/production/temporal-cluster.ts';
import { eventually } from '../../test/support/eventually.ts';
import { type BenchContext, type Figure, figureOf } from '../figures.ts';
import { closedLoop } from '../measure/load.ts';
import { percentile } from '../measure/statistics.ts';
import { deploy } from '../stack/deployment.ts';
import { withStack } from '../stack/stack.ts';
import { PAGE_TARGETS } from '../targets.ts';

const NAMESPACE = 'bench-pages';
const CALLERS = 32;
/** Of so many orders one is in review; the others are decided. */
const ONE_IN_REVIEW = 20;
/** The pause between two requests for a page. Some requests come while the server refreshes its cache. */
const PAUSE_MS = 150;
/** Visibility has the last order some seconds after its start. */
const VISIBLE_WITHIN_MS = 120_000;

const LISTS = ['overdue', 'soon', 'attention', 'stuck', 'held', 'all', 'every'];
const FILTERS = ['integration=default', 'decision=review', 'phase=review', 'amount-from=100&amount-to=500'];
const FILTERED = FILTERS.flatMap((filter) => [`/?${filter}`, `/?list=every&${filter}`]);

export async function benchPages(context: BenchContext): Promise<Figure[]> {
  if (context.address !== undefined) return measurePages(context.address, context);
  context.say('pages: PostgreSQL and the Temporal server on it');
  const cluster = await startTemporalCluster();
  try {
    return await measurePages(cluster.address, context);
  } finally {
    await cluster.stop();
  }
}

function measurePages(address: string, { sizes, say }: BenchContext): Promise<Figure[]> {
  const { open, rounds } = sizes.pages;
  return withStack(address, async (stack) => {
    const { client, api } = await deploy(stack, { namespace: NAMESPACE, api: true });
    if (api === undefined) throw new Error('no API was started');
    say(`pages: ${open} open orders`);
    const load = { callers: CALLERS, count: open };
    const { failures } = await closedLoop(load, async (index) => startOrder(client, index));
    if (failures.length > 0) throw new Error(`${failures.length} orders not started: ${failures[0]}`);
    await untilVisible(client, open);
    const part = (index: number) => `part-${index % open}-of`;
    const kinds: [name: keyof typeof PAGE_TARGETS, pathOf: (round: number) => string][] = [
      ['lists', (round) => `/?list=${LISTS[round % LISTS.length]}`],
      ['filters', (round) => FILTERED[round % FILTERED.length] ?? '/'],
      ['search', (round) => `/?q=${part(round * 7)}`],
      ['days', () => '/days'],
    ];
    const found = await (await fetch(`${api.url}/?q=${part(7)}`)).text();
    if (!found.includes(part(7))) throw new Error('a part of an id did not find its order');
    const figures: Figure[] = [];
    for (const [kind, pathOf] of kinds) {
      say(`pages: ${kind}`);
      const times: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        times.push(await timeOf(`${api.url}${pathOf(round)}`));
        await sleep(PAUSE_MS);
      }
      for (const share of [0.5, 0.99]) {
        figures.push(
          ...figureOf({
            part: 'pages',
            name: `${kind}, p${share * 100}`,
            unit: 'ms',
            value: percentile(times, share),
            targets: PAGE_TARGETS[kind],
          }),
        );
      }
    }
    return figures;
  });
}

/** @returns milliseconds until the whole page was sent */
async function timeOf(url: string): Promise<number> {
  const begin = performance.now();
  const response = await fetch(url, { headers: { accept: 'text/html' } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${text.slice(0, 300)}`);
  return performance.now() - begin;
}

/** Starts an order as its checkout left it. No worker takes it. */
async function startOrder(client: Client, index: number): Promise<void> {
  const decision = index % ONE_IN_REVIEW === 0 ? 'review' : 'pass';
  const orderId = `${randomUUID().slice(0, 8)}-part-${index}-of-an-id`;
  const state = { ...nowadays(anOrder(decision)), orderId };
  for (const transaction of state.transactions) transaction.id = randomUUID();
  await client.workflow.start(SCREEN_ORDER, {
    workflowId: orderWorkflowId('default', orderId),
    taskQueue: `${TASK_QUEUE}-of-nobody`,
    args: [],
    typedSearchAttributes: searchAttributesOf({ state, asked: { transaction: aTransaction() } }),
    memo: memoOf(recordOf(state)),
  });
}

/** Moves the times of an order, which were those of a day in the past. */
function nowadays(state: OrderState): OrderState {
  const text = JSON.stringify(state).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) =>
    new Date(Date.parse(at) + Date.now() - START).toISOString(),
  );
  const moved: OrderState = JSON.parse(text);
  return moved;
}

async function untilVisible(client: Client, count: number): Promise<void> {
  const areVisible = async () =>
    (await client.workflow.count(`WorkflowType = '${SCREEN_ORDER}'`)).count >= count;
  await eventually(areVisible, { timeoutMs: VISIBLE_WITHIN_MS });
}
