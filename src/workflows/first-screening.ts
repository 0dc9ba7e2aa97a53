/** The checkout's screening as the workflow calls it: whatever breaks, an order has a policy and goes on. Design section 3.1. */
import { ApplicationFailure } from '@temporalio/workflow';
import { isOrderErrorCode } from '../orders/errors.ts';
import type { FirstScreening, ScreeningOutcome } from '../orders/screening-outcome.ts';
import type { CheckoutRequest } from '../orders/world.ts';
import { local, localUntilDone } from './world.ts';

/** What is known when a screening's own code failed: a create may have been sent. */
export const BROKE_DOWN: ScreeningOutcome = {
  kind: 'unanswered',
  reason: 'screening-broke-down',
  maybeSent: true,
};

/** @throws ApplicationFailure one of our errors: the order can't be screened at all */
export async function firstScreening(request: CheckoutRequest): Promise<FirstScreening> {
  try {
    return await local.screenAtCheckout(request);
  } catch (error) {
    const refused = ownFailure(error);
    if (refused !== undefined) throw refused;
  }
  try {
    const policy = await localUntilDone.policyInForce(request);
    return { policy, outcome: BROKE_DOWN };
  } catch (error) {
    throw ownFailure(error) ?? error;
  }
}

/** @returns the failure behind an activity's, if it is one of our errors */
function ownFailure(error: unknown): ApplicationFailure | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof ApplicationFailure && isOrderErrorCode(cause.type) ? cause : undefined;
}
