/** Lets a caller in the same process hear how a checkout's screening ended before that is recorded. */
import { activityInfo } from '@temporalio/activity';
import type { FirstScreening } from '../orders/screening-outcome.ts';
import type { CheckoutRequest, Moment } from '../orders/world.ts';

type Screened = FirstScreening & Moment;

export interface BeforeRecord {
  /** @param first absent when the screening failed */
  tell(
    execution: { workflowId: string; runId: string },
    request: CheckoutRequest,
    first: Screened | undefined,
  ): void;
}

type Screen = (request: CheckoutRequest) => Promise<Screened>;

/** @returns the screening, which tells how it ended, also when it failed */
export function tellingBeforeRecord(beforeRecord: BeforeRecord | undefined, screen: Screen): Screen {
  if (beforeRecord === undefined) return screen;
  return async (request) => {
    const { workflowExecution } = activityInfo();
    let first: Screened | undefined;
    try {
      first = await screen(request);
      return first;
    } finally {
      if (workflowExecution !== undefined) beforeRecord.tell(workflowExecution, request, first);
    }
  };
}
