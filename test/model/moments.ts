/** The moments of an order's life that are worth waiting for. */
import { MINUTE } from '../fixtures/policies.ts';
import { cancelByOf, lastStretchMs, type Model } from './model.ts';
import type { Moment } from './steps.ts';

/** @returns the moment on the server's clock, a minute behind what happens then; undefined: it won't come */
export function momentOf(model: Model, what: Moment): number | undefined {
  const { policy } = model;
  if (what === 'retry over') {
    return model.phase === 'declined' ? model.since + policy.retryWithinMs + MINUTE : undefined;
  }
  const cancelBy = cancelByOf(model);
  if (cancelBy === undefined) return undefined;
  switch (what) {
    case 'reminder':
      return cancelBy - policy.reviewLeadTimeMs + MINUTE;
    case 'recheck':
      return cancelBy - policy.recheckLeadTimeMs + MINUTE;
    case 'last stretch':
      return cancelBy - lastStretchMs(policy) / 2;
    case 'after window':
      return cancelBy + MINUTE;
  }
}
