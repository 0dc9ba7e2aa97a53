/** One chaos run: load and faults, calm, settling, and the verdict. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Books } from '../books/books.ts';
import { wasLate } from '../books/facts.ts';
import { recordOf } from '../books/record-of.ts';
import { everyHistory, historiesOf, type OneHistory, type Replays, replay } from '../support/replays.ts';
import { startAnalysts } from './analysts.ts';
import { booksOf } from './books-of.ts';
import { OrderService } from './client.ts';
import { type Deployment, startDeployment } from './deployment.ts';
import { gatherEvidence, inBatches, type OrderEvidence } from './evidence.ts';
import { calmDown, type FaultsFromOutside, playFaultsFromOutside } from './faults-from-outside.ts';
import { type MetadataQueries, repairBroken, startMetadataQueries } from './metadata-queries.ts';
import { type OrderPlan, orderOfInvoice, planRun, workflowIdOf } from './plan.ts';
import { drawIntegrations } from './policies.ts';
import { startReaders } from './readers.ts';
import { settle } from './settle.ts';
import { type Anomaly, type Circumstances, judge } from './verdict.ts';

export interface ChaosOptions {
  seed: number;
  orders: number;
  /** New orders a second. */
  rate: number;
  workers: number;
  killEveryMs: number;
  temporalKills: number;
  apiRestarts: number;
  /** Queries orders as the Temporal UI does, and repairs those that it breaks. */
  metadataQueries?: boolean;
  /** How long orders may take to come to rest after the last fault. */
  settleWithinMs: number;
  /** Told what goes on. */
  say: (words: string) => void;
  signal: AbortSignal;
}

/** Everything that a report needs. */
export interface ChaosResult {
  options: Pick<ChaosOptions, 'seed' | 'orders' | 'rate' | 'workers'>;
  tookMs: number;
  /** Whether pre-gateway orders, with full card data, were among them. */
  cards: boolean;
  anomalies: Anomaly[];
  replays: Pick<Replays, 'whole' | 'cut'>;
  evidence: OrderEvidence[];
  books: { orderId: string; books: Books | undefined }[];
  faults: Deployment['sandbox']['control'] extends { faults(): infer Report } ? Report : never;
  deaths: Deployment['deaths'];
  outages: Circumstances['outages'];
  faultsFromOutside: FaultsFromOutside;
  traffic: OrderService['traffic'];
  /** Reads of orders and lists, by status; 0: without an answer. */
  reads: ReadonlyMap<number, number>;
  received: {
    arrivals: number;
    behaved: Deployment['receiver']['behaved'];
    wrong: number;
    fromOutside: number;
  };
  /** Queries of the Temporal UI, and the orders that they broke. */
  metadata?: MetadataQueries['sent'] & { repaired: string[] };
  analystsDecided: number;
  /** Orders that an operator asked to be read again, and when. */
  rechecked: Circumstances['rechecked'];
  /** Orders of which nothing was lost or late by a kill. */
  undisturbed: number;
  complaints: string[];
  /** Of orders with an anomaly, to be looked into. */
  histories: OneHistory[];
}

/** Runs it, and stops every process whatever happens. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, orders, rate, workers, say, signal } = options;
  setMaxListeners(0, signal);
  const began = Date.now();
  const loadMs = Math.ceil((orders / rate) * 1000);
  const known = new Map<string, OrderPlan>();
  const integrationOf = (invoice: string) => known.get(orderOfInvoice(invoice) ?? '')?.integration;
  say(`seed ${seed}`);
  say('starting Temporal, workers, API and sandbox …');
  const integrations = drawIntegrations(seed);
  const deployment = await startDeployment({ seed, workers, integrations, integrationOf });
  try {
    const plans = planRun({ seed, orders, loadMs, cards: deployment.cards !== undefined, integrations });
    for (const plan of plans) known.set(plan.orderId, plan);
    return await play(options, deployment, plans, known, loadMs, began);
  } finally {
    await deployment.stop();
  }
}

async function play(
  options: ChaosOptions,
  deployment: Deployment,
  plans: OrderPlan[],
  known: Map<string, OrderPlan>,
  loadMs: number,
  began: number,
): Promise<ChaosResult> {
  const { seed, orders, rate, workers, say, signal } = options;
  const service = new OrderService(deployment.apiUrl, deployment.receiver, signal);
  const analysts = startAnalysts(deployment.sandbox, known);
  const readers = startReaders(deployment.apiUrl, plans, signal);
  const queries =
    options.metadataQueries === true ? startMetadataQueries(deployment.temporal, plans, signal) : undefined;
  try {
    say(`${orders} orders in ${Math.round(loadMs / 1000)} s, with kills and faults …`);
    const start = Date.now();
    const load = Promise.all(
      plans.map(async (plan) => {
        await sleep(plan.startsAfterMs - (Date.now() - start), undefined, { signal }).catch(() => undefined);
        if (!signal.aborted) await service.serve(plan);
      }),
    );
    const faultsFromOutside = await playFaultsFromOutside(deployment, plans, { ...options, loadMs }, signal);
    signal.throwIfAborted();
    await calmDown(deployment);
    service.faultsEnded();
    say('the faults have ended; the order services finish …');
    await load;
    while (analysts.pending() > 0 && !signal.aborted) await sleep(200);

    await queries?.stop();
    const broken = queries && (await repairBroken(deployment.temporal, deployment.receiver, plans));
    if (broken !== undefined) say(`${broken.repaired.length} orders were broken by queries, and repaired`);
    say('waiting until every order has come to rest …');
    const restless = await settle(
      deployment.temporal,
      deployment.sandbox,
      plans,
      options.settleWithinMs,
      signal,
    );
    signal.throwIfAborted();
    const rechecked = await recheckOpenOrders(deployment, plans, signal);
    say('asking each checkout once more …');
    await inBatches(plans, (plan) => service.screen(plan, 1));

    await readers.stop();
    signal.throwIfAborted();
    say('comparing order by order …');
    const diaryOf = (orderId: string) => service.diaryOf(orderId);
    const { temporal, sandbox, receiver } = deployment;
    const evidence = await gatherEvidence(deployment, receiver.arrivals, plans, diaryOf);
    say('replaying every history …');
    const { faults: unreplayable, ...replays } = await replay(everyHistory(temporal));
    const circumstances: Circumstances = {
      outages: deployment.outages,
      ...faultsFromOutside,
      rechecked,
      unreplayable,
      restless: new Set(restless.map(({ orderId }) => orderId)),
    };
    const judged = evidence.map((of) => ({ of, books: booksOf(of, circumstances) }));
    const anomalies = [
      ...judged.flatMap(({ books, of }) => judge(of, books, circumstances)),
      ...unreplayableOthers(plans, unreplayable),
      ...(broken?.anomalies ?? []),
      ...readers.strange.map((one) => ({ kind: 'strange answer' as const, ...one })),
    ];
    return {
      options: { seed, orders, rate, workers },
      tookMs: Date.now() - began,
      cards: deployment.cards !== undefined,
      anomalies,
      replays,
      evidence,
      books: judged.map(({ of, books }) => ({ orderId: of.plan.orderId, books })),
      faults: sandbox.control.faults(),
      deaths: deployment.deaths,
      outages: deployment.outages,
      faultsFromOutside,
      traffic: service.traffic,
      reads: readers.statuses,
      ...(queries && broken && { metadata: { ...queries.sent, repaired: broken.repaired } }),
      received: {
        arrivals: receiver.arrivals.length,
        behaved: receiver.behaved,
        wrong: receiver.wrong.length,
        fromOutside: receiver.arrivals.filter(({ event }) => event.sequence === 0).length,
      },
      analystsDecided: analysts.decided(),
      rechecked,
      undisturbed: judged.filter(({ books }) => books !== undefined && !wasLate(books)).length,
      complaints: deployment.complaints(),
      histories: await firstHistories(temporal, anomalies, plans),
    };
  } finally {
    analysts.stop();
    await Promise.all([readers.stop(), queries?.stop()]);
  }
}

/** Portal actions that ran alone, and the sweep, must replay as well. */
function unreplayableOthers(
  plans: readonly OrderPlan[],
  unreplayable: ReadonlyMap<string, string>,
): Anomaly[] {
  const orders = new Set(plans.map(workflowIdOf));
  const others = [...unreplayable].filter(([workflowId]) => !orders.has(workflowId));
  return others.map(([orderId, facts]) => ({ kind: 'history does not replay', orderId, facts }));
}

/** More are no help to whoever looks for a cause. */
const KEPT_HISTORIES = 20;

async function firstHistories(
  client: Deployment['temporal'],
  anomalies: readonly Anomaly[],
  plans: readonly OrderPlan[],
): Promise<OneHistory[]> {
  const odd = plans.filter(({ orderId }) => anomalies.some((one) => one.orderId === orderId));
  const found: OneHistory[] = [];
  for await (const one of historiesOf(client, odd.slice(0, KEPT_HISTORIES).map(workflowIdOf)))
    found.push(one);
  return found;
}

/** A hint may be lost on its way, and an open order's last read is days away: an operator asks for it. */
async function recheckOpenOrders(
  deployment: Deployment,
  plans: readonly OrderPlan[],
  signal: AbortSignal,
): Promise<Circumstances['rechecked']> {
  const outdated: OrderPlan[] = [];
  const evidence = await gatherEvidence(deployment, [], plans, () => ({
    calls: [],
    strange: [],
    givenUp: [],
  }));
  for (const { plan, run, transactions } of evidence) {
    if (run.status !== 'RUNNING' || run.state === undefined) continue;
    const { newest, decision } = recordOf(run.state);
    const transaction = transactions.find(({ id }) => id === newest);
    if (transaction !== undefined && transaction.decision !== decision) outdated.push(plan);
  }
  const rechecked = new Map<string, number>();
  await inBatches(outdated, async ({ orderId, integration }) => {
    const url = `${deployment.apiUrl}/v1/orders/${orderId}/recheck?integration=${integration}`;
    const response = await fetch(url, { method: 'POST', signal }).catch(() => undefined);
    if (response?.ok) rechecked.set(orderId, Date.now());
  });
  if (outdated.length > 0) {
    await sleep(3_000, undefined, { signal }).catch(() => undefined);
    await settle(deployment.temporal, deployment.sandbox, outdated, 60_000, signal);
  }
  return rechecked;
}
