/** Lets a caller in the same process hear how a checkout's screening ended before that is recorded. Design section 6. */
import { activityInfo } from '@temporalio/activity';
import type { FirstScreening } from '../orders/screening-outcome.ts';
import type { CheckoutRequest } from '../orders/world.ts';

export interface BeforeRecord {
  /** @param first absent when the screening failed */
  tell(
    execution: { workflowId: string; runId: string },
    request: CheckoutRequest,
    first: FirstScreening | undefined,
  ): void;
}

type Screen = (request: CheckoutRequest) => Promise<FirstScreening>;

/** @returns the screening, which tells how it ended, also when it failed */
export function tellingBeforeRecord(beforeRecord: BeforeRecord | undefined, screen: Screen): Screen {
  if (beforeRecord === undefined) return screen;
  return async (request) => {
    const { workflowExecution } = activityInfo();
    let first: FirstScreening | undefined;
    try {
      first = await screen(request);
      return first;
    } finally {
      if (workflowExecution !== undefined) beforeRecord.tell(workflowExecution, request, first);
    }
  };
}
