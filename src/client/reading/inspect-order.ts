/** Inspects an order: everything that the server has of it. Needs no worker. */
import { POLL_UNCHANGED, type PollActivities } from '../../contract/activity-contract.ts';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import { orderOfWorkflowId } from '../../contract/ids.ts';
import { defined } from '../../order/defined.ts';
import { unknownOrder } from '../temporal-errors.ts';
import type { ClientContext, InspectedOrder, PollTimes, View } from '../types.ts';
import { afterEndOf } from './after-end.ts';
import { type DescribedOrder, instantOf, newestStarted } from './describe-order.ts';
import { recordOfOrder, summaryOf } from './read-orders.ts';

export async function inspectOrder(
  context: ClientContext,
  workflowId: string,
  view: View,
): Promise<InspectedOrder> {
  const run = await newestStarted(context, workflowId);
  const key = orderOfWorkflowId(workflowId);
  if (run === undefined || key === undefined) throw unknownOrder();
  const { state, missing } = await stateOf(context, run, view);
  const summary = summaryOf(key, run, state, missing === 'undecryptable' ? 'record-unreadable' : undefined);
  const afterEnd = view === 'full' && state ? await afterEndOf(context, state) : undefined;
  return defined({ summary, runId: run.runId, state, missing, afterEnd, poll: pollTimes(run.raw) });
}

async function stateOf(
  context: ClientContext,
  run: DescribedOrder,
  view: View,
): Promise<Pick<InspectedOrder, 'state' | 'missing'>> {
  try {
    return { state: await recordOfOrder(context, run, view) };
  } catch (error) {
    const isUnavailable = hasCode(error, 'temporal-unavailable');
    // The history was too slow; the memo is already here.
    if (isUnavailable && view === 'full') return stateOf(context, run, 'record');
    if (hasCode(error, 'record-unreadable')) return { missing: 'undecryptable' };
    if (isUnavailable || run.status === 'open' || !(error instanceof OrderScreeningError)) throw error;
    // The start was refused: the error has the reason's code.
    return { missing: 'no-record' };
  }
}

/** A poll and a last read are one activity each, which the server retries after each pause: the first attempt that reads. */
const FIRST_THAT_READS: Record<keyof PollActivities, number> = {
  pollStatus: 2,
  readStatusLast: 1,
};

function pollTimes({ pendingActivities }: DescribedOrder['raw']): PollTimes | undefined {
  for (const [name, first] of Object.entries(FIRST_THAT_READS)) {
    const poll = pendingActivities?.find(({ activityType }) => activityType?.name === name);
    if (poll === undefined) continue;
    // While the activity waits, `attempt` is the number of the next attempt.
    const hasRead = (poll.attempt ?? 1) > first;
    const lastAt = hasRead ? instantOf(poll.lastAttemptCompleteTime) : undefined;
    const unchanged = poll.lastFailure?.applicationFailureInfo?.type === POLL_UNCHANGED;
    // A last read without news is not repeated within the order's life.
    const isOver = name === 'readStatusLast' && unchanged;
    return defined({
      lastAt,
      answered: lastAt === undefined ? undefined : unchanged,
      nextAt: isOver ? undefined : instantOf(poll.nextAttemptScheduleTime),
    });
  }
  return undefined;
}
