/** One chaos run: orders and faults, calm, rest, and the verdict. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Books } from '../books/books.ts';
import { wasLate } from '../books/facts.ts';
import { everyHistory, historiesOf, type OneHistory, type Replays, replay } from '../support/replays.ts';
import { type Deployment, startDeployment } from './deployment.ts';
import { causeFaultsFromOutside, endFaults, type OutsideOptions } from './faults/faults-from-outside.ts';
import { startAnalysts } from './people/analysts.ts';
import { OrderService } from './people/client.ts';
import { queryOrders, readOrders } from './people/readers.ts';
import { repairBroken } from './people/repair-broken.ts';
import { type OrderPlan, orderOfInvoice, planRun, workflowIdOf } from './plan/plan.ts';
import { drawIntegrations } from './plan/policies.ts';
import { booksOf } from './verdict/books-of.ts';
import { aFewAtATime, gatherEvidence, type OrderEvidence } from './verdict/evidence.ts';
import { settle } from './verdict/settle.ts';
import { type Anomaly, judge } from './verdict/verdict.ts';

export interface ChaosOptions extends Omit<OutsideOptions, 'loadMs'> {
  orders: number;
  /** New orders per second. */
  rate: number;
  workers: number;
  /** Queries orders as the Temporal UI does, and repairs those that this breaks. */
  metadataQueries?: boolean;
  /** How long orders may take to come to rest after the last fault. */
  settleWithinMs: number;
  /** Reports progress. */
  say: (words: string) => void;
  signal: AbortSignal;
}

export type ChaosResult = Awaited<ReturnType<typeof runChaos>>;

interface Judged {
  evidence: OrderEvidence;
  /** Undefined if the order's state can't be read. */
  books: Books | undefined;
}

/** Runs it, and stops every process at its end. */
export async function runChaos(options: ChaosOptions) {
  const { seed, orders, rate, workers, say, signal } = options;
  setMaxListeners(0, signal);
  const loadMs = Math.ceil((orders / rate) * 1000);
  const integrations = drawIntegrations(seed);
  const plans = planRun({ seed, orders, loadMs, integrations });
  const planOf = new Map(plans.map((plan) => [plan.orderId, plan]));
  const integrationOf = (invoice: string) => planOf.get(orderOfInvoice(invoice) ?? '')?.integration;
  say(`seed ${seed}: starting Temporal, workers, API and sandbox …`);
  const deployment = await startDeployment({ seed, workers, integrations, integrationOf });
  const analysts = startAnalysts(deployment.sandbox, planOf);
  try {
    return await play(deployment, plans, { ...options, loadMs }, analysts.pending);
  } finally {
    analysts.stop();
    await deployment.stop();
  }
}

async function play(
  deployment: Deployment,
  plans: readonly OrderPlan[],
  options: ChaosOptions & OutsideOptions,
  undecided: () => number,
) {
  const { say, signal, settleWithinMs, metadataQueries = false } = options;
  const { apiUrl, client, log, receiver, sandbox } = deployment;
  const service = new OrderService(deployment, signal);
  const [reads, queries] = [new AbortController(), new AbortController()];
  const read = readOrders(apiUrl, plans, AbortSignal.any([signal, reads.signal]));
  const queried = metadataQueries
    ? queryOrders(client, plans, AbortSignal.any([signal, queries.signal]))
    : undefined;
  try {
    say(`${plans.length} orders in ${Math.round(options.loadMs / 1000)} s, with kills and faults …`);
    const start = Date.now();
    const serve = async (plan: OrderPlan) => {
      await sleep(plan.startsAfterMs - (Date.now() - start), undefined, { signal });
      await service.serve(plan);
    };
    const served = Promise.allSettled(plans.map(serve));
    const fromOutside = await causeFaultsFromOutside(deployment, plans, options, signal);
    endFaults(deployment);
    service.faultsEnded();
    say('the faults have ended; the order services finish …');
    await served;
    while (undecided() > 0 && !signal.aborted) await sleep(200);
    queries.abort();
    const broken = queried && (await repairBroken(deployment, plans));

    say('waiting until every order has come to rest …');
    const restless = await settle(deployment, plans, settleWithinMs, signal);
    const rechecked = await recheck(deployment, plans, signal);
    say('asking each checkout once more …');
    await aFewAtATime(plans, (plan) => service.screen(plan, 1));
    reads.abort();
    const { statuses, strange } = await read;
    signal.throwIfAborted();

    say('comparing order by order, and replaying every history …');
    const evidence = await gatherEvidence(deployment, plans, (orderId) => service.diaryOf(orderId));
    const replays = await replay(everyHistory(client));
    const happened = { ...fromOutside, outages: log.outages, rechecked };
    const judged = evidence.map((one): Judged => ({ evidence: one, books: booksOf(one, happened) }));
    const circumstances = {
      restless: new Set(restless.map(({ orderId }) => orderId)),
      unreplayable: replays.faults,
    };
    const anomalies = [
      ...judged.flatMap((one) => judge(one.evidence, one.books, circumstances)),
      ...unreplayableOthers(plans, replays),
      ...(broken?.anomalies ?? []),
      ...strange.map((one) => ({ kind: 'strange answer', ...one })),
      ...receiver.wrong.map((facts) => ({ kind: 'wrong signature', orderId: 'unknown', facts })),
    ];
    const suspects = judged.filter(({ evidence: { plan } }) =>
      anomalies.some(({ orderId }) => orderId === plan.orderId),
    );
    const histories: OneHistory[] = [];
    const firstSuspects = suspects.slice(0, 20).map(({ evidence: { plan } }) => workflowIdOf(plan));
    for await (const one of historiesOf(client, firstSuspects)) histories.push(one);
    const { played } = sandbox.control.faults();
    return {
      anomalies,
      figures: {
        ...figuresOf(judged),
        'histories replayed': replays.whole,
        'histories replayed that were cut at a workflow task': replays.cut,
        ...Object.fromEntries(log.ends),
        ...Object.fromEntries([...statuses].map(([status, count]) => [`reads answered ${status}`, count])),
        ...(broken && { 'metadata queries answered': (await queried) ?? 0 }),
        ...(broken && { 'orders that a query broke, repaired': broken.repaired }),
        'seconds taken': Math.round((Date.now() - start) / 1000),
      } satisfies Record<string, number>,
      /** How often each fault was injected, such as `status: 429`. */
      faults: Object.fromEntries(played.map((one) => [`${one.operation}: ${one.kind}`, one.count])),
      /** The orders with an anomaly, to find its cause. */
      suspects,
      histories,
      log,
    };
  } finally {
    reads.abort();
    queries.abort();
  }
}

function figuresOf(judged: readonly Judged[]): Record<string, number> {
  const count = (isCounted: (one: Judged) => boolean) => judged.filter(isCounted).length;
  return {
    orders: judged.length,
    'closed, the others at rest': count(({ evidence: { run } }) => run.closedAt !== undefined),
    'judged without an excuse': count(({ books }) => books !== undefined && !wasLate(books)),
    'answered by the fast path before a record that was lost': count(
      ({ books }) => books?.world.recordLost === true,
    ),
    transactions: judged.flatMap(({ evidence: { transactions } }) => transactions).length,
  };
}

/** The other workflows, such as the sweep, must replay as well. */
function unreplayableOthers(plans: readonly OrderPlan[], { faults }: Replays): Anomaly[] {
  const orders = new Set(plans.map(workflowIdOf));
  const others = [...faults].filter(([workflowId]) => !orders.has(workflowId));
  return others.map(([orderId, facts]) => ({ kind: 'history does not replay', orderId, facts }));
}

/** A hint may be lost, and the last read of a long order is days away: an operator asks for one. @returns when, by order id */
async function recheck(
  deployment: Deployment,
  plans: readonly OrderPlan[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const long = plans.filter((plan) => plan.long);
  const rechecked = new Map<string, number>();
  await aFewAtATime(long, async ({ orderId, integration }) => {
    const url = `${deployment.apiUrl}/v1/orders/${orderId}/recheck?integration=${integration}`;
    const response = await fetch(url, { method: 'POST', signal }).catch(() => undefined);
    if (response?.ok) rechecked.set(orderId, Date.now());
  });
  await sleep(3_000, undefined, { signal }).catch(() => undefined);
  await settle(deployment, long, 60_000, signal);
  return rechecked;
}
