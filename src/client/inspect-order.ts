/** All that can be known of an order: from the server alone, and from a worker where one answers. */
import { QueryNotRegisteredError, type WorkflowExecutionDescription } from '@temporalio/client';
import { PayloadCodecError } from '../codec/payload-codec.ts';
import { POLL_UNCHANGED, type PollActivities } from '../orders/activity-contract.ts';
import { OrderScreeningError } from '../orders/errors.ts';
import { orderOfWorkflowId } from '../orders/ids.ts';
import type { OrderState } from '../orders/state.ts';
import { describeOrder, finalRecord, instantOf, isOpen, openState, summaryOf } from './read-orders.ts';
import { READ_WITHIN_MS, unknownOrder } from './temporal-errors.ts';
import type { ClientContext, InspectedOrder, PollTimes } from './types.ts';

/** The poll is one activity, which the server tries again after each pause. */
const POLL: keyof PollActivities = 'pollStatus';
/** The first attempt only waits for the first pause; reading begins with the second. */
const FIRST_THAT_READS = 2;

/** @see OrderScreening.inspect */
export async function inspectOrder(
  context: ClientContext,
  workflowId: string,
  { withinMs = READ_WITHIN_MS }: { withinMs?: number } = {},
): Promise<InspectedOrder> {
  const deadline = Date.now() + withinMs;
  const description = await describeOrder(context, workflowId, withinMs);
  const name = orderOfWorkflowId(workflowId);
  if (description === undefined || name === undefined) throw unknownOrder();
  const { typedSearchAttributes, startTime, closeTime, runId } = description;
  const poll = pollTimes(description);
  return {
    summary: summaryOf(name, typedSearchAttributes, startTime.toISOString(), closeTime?.toISOString()),
    runId,
    ...(await stateOf(context, description, deadline - Date.now())),
    ...(poll && { poll }),
  };
}

async function stateOf(
  context: ClientContext,
  description: WorkflowExecutionDescription,
  withinMs: number,
): Promise<{ state: OrderState } | Pick<Required<InspectedOrder>, 'missing'>> {
  const open = isOpen(description);
  try {
    return { state: await (open ? openState : finalRecord)(context, description.workflowId, withinMs) };
  } catch (error) {
    // The client's name for every query that a worker took and failed, such as a history that it can't replay.
    if (error instanceof QueryNotRegisteredError) return { missing: 'unreadable' };
    if (error instanceof PayloadCodecError) return { missing: 'undecryptable' };
    if (!(error instanceof OrderScreeningError)) throw error;
    if (error.code === 'temporal-unavailable') return { missing: 'no-worker' };
    // Closed, or refused when it was started: with the code of what was wrong.
    if (!open) return { missing: 'no-record' };
    throw error;
  }
}

function pollTimes({ raw }: WorkflowExecutionDescription): PollTimes | undefined {
  const poll = raw.pendingActivities?.find(({ activityType }) => activityType?.name === POLL);
  if (poll === undefined) return undefined;
  const nextAt = instantOf(poll.nextAttemptScheduleTime);
  // While it waits, `attempt` counts the next one.
  const done = (poll.attempt ?? 1) - 1;
  const lastAt = done >= FIRST_THAT_READS ? instantOf(poll.lastAttemptCompleteTime) : undefined;
  return {
    ...(lastAt !== undefined && {
      lastAt,
      answered: poll.lastFailure?.applicationFailureInfo?.type === POLL_UNCHANGED,
    }),
    ...(nextAt !== undefined && { nextAt }),
  };
}
