/** Shared start of the screening activities: the policy, the attempt, and any unresolved create of an earlier attempt. */
import { activityInfo } from '@temporalio/activity';
import type {
  RetryCheckoutRequest,
  ScreeningOutcome,
  ScreenRequest,
} from '../../contract/activity-contract.ts';
import type { FieldError } from '../../contract/errors.ts';
import type { Integration, Policy } from '../../contract/policy.ts';
import { type Instant, instant } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { orderFactsOf, policyFor } from '../../order/order-rules.ts';
import { type ActivityWorld, clientOf, fieldErrorWords, senderOf } from '../activity-world.ts';
import { arrivalAfter, isAfterReset } from '../earlier-run.ts';
import type { Beginning } from '../server-clock.ts';
import { earlierHeartbeat, lastTry } from '../tries.ts';
import type { Try, Unseen } from './try-screening.ts';

/** Begins an activity attempt with a deadline in `forMs`. */
export type BeginTry = (
  request: ScreenRequest,
  integration: Integration,
  forMs: number,
  time: () => Instant,
  beginning: Beginning,
) => Try;

export function tryBeginner(world: ActivityWorld): BeginTry {
  const otherModes = new Set<string>();
  return (request, integration, forMs, time, beginning) => {
    return {
      world,
      integration,
      workflow: request.workflow ?? integration.workflow,
      client: clientOf(world, integration),
      otherModes,
      time,
      beginning,
      until: beginning.elapsed + forMs,
    };
  };
}

export function policyOf(world: ActivityWorld, request: ScreenRequest, integration: Integration): Policy {
  const facts = orderFactsOf(request.transaction);
  return policyFor(integration, request.workflow, facts, senderOf(world, integration.name) !== undefined);
}

/**
 * Returns the unresolved create of an earlier attempt, effect or run:
 * - after a reset, the previous run may have sent one at any time since the order's start;
 * - on the first attempt, the order's state has it;
 * - after an attempt that reported its end, its report has it;
 * - after an attempt that did not report (its worker died, or it timed out), that attempt may have sent one just now. The heartbeat of an
 *   earlier attempt is newer than the order's state.
 */
export function unseenBefore(request: RetryCheckoutRequest, now: Instant): Unseen | undefined {
  const { reported, unseenSince, at, arrivesBy } = earlierHeartbeat();
  const last = lastTry();
  if (last > 0 && reported === last) {
    return unseenSince === undefined ? undefined : { since: unseenSince, arrivesBy };
  }
  const known = isAfterReset() ? request.startedAt : request.unseenSince;
  if (last === 0) return known === undefined ? undefined : { since: known, arrivesBy: arrivalAfter(now) };
  const since = unseenSince ?? at ?? known ?? instant(activityInfo().scheduledTimestampMs);
  return { since, arrivesBy: arrivalAfter(now) };
}

export function unanswered(
  reason: string,
  unseenSince: Instant | undefined,
  notBefore?: Instant,
): ScreeningOutcome {
  return { kind: 'unanswered', reason, ...defined({ unseenSince, notBefore }) };
}

export function refusedByRules(
  fieldErrors: FieldError[],
  unseenSince: Instant | undefined,
): ScreeningOutcome {
  return {
    kind: 'refused',
    reason: 'invalid-request',
    words: fieldErrorWords(fieldErrors),
    ...defined({ unseenSince }),
  };
}
