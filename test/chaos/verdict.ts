/** Asks each order's books what the judge asks, and beside them what only a run of real processes can show. */
import type { Books, Finding } from '../books/books.ts';
import { judgeBooks } from '../books/judge.ts';
import type { Happened } from './books-of.ts';
import type { OrderEvidence } from './evidence.ts';
import { workflowIdOf } from './plan.ts';

/** What is wrong with an order: a kind of the judge's, or one of this file's. */
export interface Anomaly extends Finding {
  orderId: string;
}

export interface Circumstances extends Happened {
  /** Orders that had not come to rest when the run stopped waiting. */
  restless: ReadonlySet<string>;
  /** What Temporal says of histories that the workflow code of today could not have made, by workflow id. */
  unreplayable: ReadonlyMap<string, string>;
}

/**
 * @param books undefined for an order whose state can't be read
 * @returns everything that is wrong with the order
 */
export function judge(
  evidence: OrderEvidence,
  books: Books | undefined,
  circumstances: Circumstances,
): Anomaly[] {
  const findings = [...lifeOf(evidence, circumstances), ...(books === undefined ? [] : judgeBooks(books))];
  return findings.map((finding) => ({ ...finding, orderId: evidence.plan.orderId }));
}

/** Failures of a workflow task that mean nothing: messages came meanwhile, a worker forgot the order, or could not ask for its history. */
const HARMLESS = new Set(['forced', 'unhandled command', 'sticky queue reset', 'history not fetched']);

function lifeOf(
  { plan, diary, run, transactions, portalRuns }: OrderEvidence,
  { restless, unreplayable }: Circumstances,
): Finding[] {
  const findings: Finding[] = [];
  const fault = unreplayable.get(workflowIdOf(plan));
  if (fault !== undefined) findings.push({ kind: 'history does not replay', facts: fault });
  const answers = diary.calls.filter((one) => one.asks === 'checkout' && one.answer !== undefined);
  if (answers.length === 0) findings.push({ kind: 'never answered', facts: 'the checkout' });
  for (const path of diary.givenUp) findings.push({ kind: 'never answered', facts: path });
  for (const facts of diary.strange) findings.push({ kind: 'strange answer', facts });
  for (const { kind, status } of portalRuns) {
    if (status === 'RUNNING')
      findings.push({ kind: 'workflow stuck', facts: `the portal action ${kind} still runs` });
  }
  if (run.status === 'NONE') {
    const traces = `${answers.length} answers, ${transactions.length} transactions`;
    return [...findings, { kind: 'order lost', facts: `Temporal knows no such order; ${traces}` }];
  }
  if (run.status !== 'RUNNING' && run.status !== 'COMPLETED') {
    findings.push({ kind: 'workflow failed', facts: `status ${run.status}` });
  }
  if (run.state === undefined) findings.push({ kind: 'workflow stuck', facts: 'its state cannot be read' });
  for (const [cause, count] of Object.entries(run.history.failedTasks)) {
    // The SDK itself may stumble once over a task that was forced to fail; a task that fails again is our fault.
    const stumbled =
      cause === 'nondeterminism' && count === 1 && run.history.failedTasks.forced !== undefined;
    if (!HARMLESS.has(cause) && !stumbled)
      findings.push({ kind: 'workflow failed', facts: `${count} tasks: ${cause}` });
  }
  if (restless.has(plan.orderId)) {
    findings.push({
      kind: 'workflow stuck',
      facts: `phase ${run.state?.phase}, decision ${run.state?.decision}`,
    });
  }
  return findings;
}
