/** Judges each order by its books, and by what only a run of real processes shows. */
import type { Books, Finding } from '../../books/books.ts';
import { judgeBooks } from '../../books/judge.ts';
import { workflowIdOf } from '../plan/plan.ts';
import type { OrderEvidence } from './evidence.ts';

/** What is wrong with an order. */
export interface Anomaly extends Finding {
  orderId: string;
}

export interface Circumstances {
  /** Orders that had not come to rest when the run stopped waiting. */
  restless: ReadonlySet<string>;
  /** Why a history does not replay, by workflow id. */
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
  const { orderId } = evidence.plan;
  const findings = [...ofRun(evidence, circumstances), ...(books === undefined ? [] : judgeBooks(books))];
  return findings.map((finding) => ({ ...finding, orderId }));
}

/** Failures of a workflow task without a cause in our code: messages arrived meanwhile, or a worker did not have the order in memory. */
const HARMLESS = [
  'FORCE_CLOSE_COMMAND',
  'UNHANDLED_COMMAND',
  'RESET_STICKY_TASK_QUEUE',
  'HISTORY_NOT_FETCHED',
];

function ofRun(
  { plan, diary, run, transactions, portalRuns }: OrderEvidence,
  { restless, unreplayable }: Circumstances,
): Finding[] {
  const { status, state, history } = run;
  const found: Finding[] = [];
  const note = (kind: string, facts: string) => found.push({ kind, facts });
  const unreplayed = unreplayable.get(workflowIdOf(plan));
  if (unreplayed !== undefined) note('history does not replay', unreplayed);
  const answers = diary.calls.filter(({ checkout }) => checkout !== undefined);
  if (answers.length === 0) note('never answered', 'the checkout');
  for (const path of diary.givenUp) note('never answered', path);
  for (const facts of diary.strange) note('strange answer', facts);
  for (const one of portalRuns) {
    if (one.status === 'RUNNING') note('workflow stuck', `the portal action ${one.kind} still runs`);
  }
  if (status === 'NONE') {
    note('order lost', `Temporal has none; ${answers.length} answers, ${transactions.length} transactions`);
    return found;
  }
  if (status !== 'RUNNING' && status !== 'COMPLETED') note('workflow failed', `status ${status}`);
  if (state === undefined) note('workflow stuck', 'its state cannot be read');
  for (const [cause, count] of Object.entries(history.failedTasks)) {
    // The SDK itself may fail once after a task that was forced to fail.
    const isSdk =
      cause === 'NON_DETERMINISTIC_ERROR' && count === 1 && 'FORCE_CLOSE_COMMAND' in history.failedTasks;
    if (!HARMLESS.includes(cause) && !isSdk) note('workflow failed', `${count} tasks: ${cause}`);
  }
  if (restless.has(plan.orderId))
    note('workflow stuck', `phase ${state?.phase}, decision ${state?.decision}`);
  return found;
}
