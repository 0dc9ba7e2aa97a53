/** The report of a run: a table for people, JSON with the evidence for whoever looks for the cause. */
import { writeFile } from 'node:fs/promises';
import Table from 'cli-table3';
import type { ChaosResult } from './run-chaos.ts';

/** @returns how often each kind of anomaly was found */
export function countAnomalies({ anomalies }: Pick<ChaosResult, 'anomalies'>): Record<string, number> {
  return tally(anomalies.map(({ kind }) => kind));
}

/** @returns the tables, to be printed */
export function printedReport(result: ChaosResult): string {
  const verdict = new Table({ head: ['must be zero', 'found'], style: PLAIN });
  verdict.push(['anomalies', result.anomalies.length]);
  for (const [kind, count] of Object.entries(countAnomalies(result))) verdict.push([kind, count]);
  const figures = new Table({ head: ['what happened', 'how often'], style: PLAIN });
  for (const [name, value] of Object.entries(figuresOf(result))) figures.push([name, value]);
  const faults = new Table({ head: ['fault played', 'times'], style: PLAIN });
  for (const [kind, count] of Object.entries(faultsOf(result))) faults.push([kind, count]);
  const listed = result.anomalies
    .slice(0, LISTED)
    .map(({ kind, orderId, facts }) => `  ${kind}: ${orderId} (seed ${result.options.seed}): ${facts}`);
  const more = result.anomalies.length > LISTED ? [`  … and ${result.anomalies.length - LISTED} more`] : [];
  return [verdict.toString(), figures.toString(), faults.toString(), ...listed, ...more].join('\n');
}

const PLAIN = { head: [], border: [] };
const LISTED = 60;

/** Everything that happened in a run, in figures. */
export function figuresOf(result: ChaosResult): Record<string, number | string> {
  const { evidence, faultsFromOutside, traffic, received } = result;
  const answeredBeforeRecord = evidence.filter(({ diary, run: { history } }) =>
    diary.calls.some(
      (call) =>
        call.asks === 'checkout' &&
        call.answer !== undefined &&
        history.recordedAt !== undefined &&
        call.at < history.recordedAt,
    ),
  );
  const closed = evidence.filter(({ run }) => run.status === 'COMPLETED').length;
  const failedTasks = evidence.reduce((sum, { run }) => sum + total(run.history.failedTasks), 0);
  const attention = tally(evidence.flatMap(({ run }) => run.state?.attention.map(({ code }) => code) ?? []));
  return {
    seed: result.options.seed,
    orders: evidence.length,
    'histories replayed': evidence.filter(({ run }) => run.status !== 'NONE').length,
    'histories replayed that were cut at a workflow task': result.replays.cut,
    'closed, the others at rest': closed,
    'time taken': `${Math.round(result.tookMs / 1000)} s`,
    'pre-gateway orders': evidence.filter(({ run }) => run.state?.workflow === 'pre-gateway').length,
    ...prefixed('killed or restarted: ', result.deaths),
    'workflow tasks failed': failedTasks,
    'workflow tasks timed out': evidence.reduce((sum, { run }) => sum + run.history.timedOutTasks, 0),
    'history events of an order, on average': Math.round(
      evidence.reduce((sum, { run }) => sum + run.history.events, 0) / evidence.length,
    ),
    'started on the fast path': evidence.filter(({ run }) => run.history.eager).length,
    'answered before that was recorded': answeredBeforeRecord.length,
    'of them after that record was lost': answeredBeforeRecord.filter(({ run }) => run.history.firstTaskLost)
      .length,
    'judged without an excuse': result.undisturbed,
    'requests of order services': traffic.requests,
    'answered 503': traffic.unavailable,
    'without an answer': traffic.broken,
    ...prefixed('reads answered ', Object.fromEntries(result.reads)),
    ...(result.metadata && {
      'metadata queries answered': result.metadata.answered,
      'metadata queries not answered': result.metadata.unanswered,
      'orders that a query broke, repaired': result.metadata.repaired.length,
    }),
    'storms of over 100 hints': faultsFromOutside.storms,
    'webhooks with a wrong secret': faultsFromOutside.wrongSecrets,
    'of them not refused': faultsFromOutside.wrongSecretsTaken,
    'webhooks for nobody': faultsFromOutside.strangeWebhooks,
    'outages of the service': faultsFromOutside.serviceOutages,
    'times the key was wrong': faultsFromOutside.keySwitches,
    'outages of the events receiver': faultsFromOutside.receiverOutages,
    'times the card stash froze': faultsFromOutside.cardStashFreezes,
    'events that arrived': received.arrivals,
    ...prefixed('of them ', received.behaved),
    'events from outside an order': received.fromOutside,
    'events with a wrong signature': received.wrong,
    'decisions of analysts': result.analystsDecided,
    'transactions created': evidence.reduce((sum, { transactions }) => sum + transactions.length, 0),
    'canceled with the service': evidence
      .flatMap(({ transactions }) => transactions)
      .filter((one) => one.canceledAt).length,
    'chargebacks submitted': evidence
      .flatMap(({ transactions }) => transactions)
      .flatMap((one) => one.chargebacks).length,
    'decisions known only at a recheck': result.rechecked.size,
    ...prefixed('attention at the end: ', attention),
  };
}

/** @returns how often each kind of fault was really played, by operation */
export function faultsOf({ faults }: ChaosResult): Record<string, number> {
  const played = faults.played.map(({ operation, kind, count }) => [`${operation}: ${kind}`, count] as const);
  return Object.fromEntries(played.sort(([a], [b]) => a.localeCompare(b)));
}

/** Writes the figures, every anomaly, and the evidence of each order that has one. */
export async function writeReport(file: string, result: ChaosResult): Promise<void> {
  const suspects = new Set(result.anomalies.map(({ orderId }) => orderId));
  const report = {
    options: result.options,
    cards: result.cards,
    verdict: countAnomalies(result),
    figures: figuresOf(result),
    faults: faultsOf(result),
    outages: result.outages,
    rechecked: Object.fromEntries(result.rechecked),
    anomalies: result.anomalies,
    evidence: result.evidence.filter(({ plan }) => suspects.has(plan.orderId)),
    books: result.books.filter(({ orderId }) => suspects.has(orderId)),
    complaints: result.complaints.slice(0, 500),
    histories: result.histories,
  };
  await writeFile(file, `${JSON.stringify(report, undefined, 2)}\n`);
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function prefixed(prefix: string, counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${prefix}${name}`, count]));
}
