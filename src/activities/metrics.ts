/** What the activities count and log, for Prometheus and people: no personal data. */
import { activityInfo, metricMeter } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type {
  CheckedOut,
  PollRequest,
  PortalOutcome,
  PortalRequest,
  RunFacts,
  ScreeningOutcome,
  ScreenRequest,
  StatusOutcome,
  Timed,
} from '../orders/activity-contract.ts';
import type { OrderEvent } from '../orders/messages.ts';
import { counterOf, histogramOf } from '../orders/metrics.ts';
import type { ActivitiesByQueue } from './activity-world.ts';

/** @returns the activities, counted where they run in a worker. */
export function withMetrics({ checkout, background, reads, polls }: ActivitiesByQueue): ActivitiesByQueue {
  return {
    checkout: {
      ...checkout,
      screenAtCheckout: countScreenings('checkout', checkout.screenAtCheckout),
      screenRetry: countScreenings('retry', checkout.screenRetry),
    },
    background: {
      ...background,
      catchUp: countScreenings('catch-up', background.catchUp),
      performPortalAction: countPortalActions(background.performPortalAction),
    },
    reads: { readStatus: countReads('order_screening_status_reads_total', reads.readStatus) },
    polls: { pollStatus: countPolls(polls.pollStatus) },
  };
}

type Activity<Request, Result> = (request: Request, run: RunFacts) => Promise<Result>;

/** When a screening is made: at the checkout, for a further attempt, or later without a caller. */
type Stage = 'checkout' | 'retry' | 'catch-up';

/** @returns the screening, counted and timed. */
function countScreenings<
  Request extends ScreenRequest,
  Result extends { outcome: ScreeningOutcome } | CheckedOut,
>(stage: Stage, screen: Activity<Request, Result>): Activity<Request, Result> {
  const note = (integration: string, began: number, how: { outcome: string; reason: string }): void => {
    const screenings = counterOf(metricMeter, 'order_screening_screenings_total');
    screenings.add(1, { integration, stage, ...how });
    const durations = histogramOf(metricMeter, 'order_screening_screening_duration_seconds');
    durations.record((Date.now() - began) / 1_000, { integration, stage, outcome: how.outcome });
  };
  return async (request, run) => {
    const began = Date.now();
    try {
      const result = await screen(request, run);
      note(request.integration, began, 'outcome' in result ? screeningEnd(result.outcome) : REFUSED);
      return result;
    } catch (error) {
      note(request.integration, began, { outcome: 'failed', reason: reasonOf(error) });
      throw error;
    }
  };
}

const REFUSED = { outcome: 'failed', reason: 'refused' };

/** The decision, `skipped`, or `pending` with the reason why there is none. */
function screeningEnd(outcome: ScreeningOutcome): { outcome: string; reason: string } {
  switch (outcome.kind) {
    case 'answered':
      return { outcome: outcome.decision, reason: '' };
    case 'skipped':
      return { outcome: 'skipped', reason: '' };
    case 'unanswered':
      return { outcome: 'pending', reason: outcome.reason };
    case 'refused':
    case 'unreadable':
      return { outcome: 'error', reason: outcome.reason };
    case 'forbidden':
      return { outcome: 'error', reason: 'forbidden' };
  }
}

/** @returns the poll, counted: `unchanged` is a poll, too; the call that only begins the first pause isn't. */
function countPolls(
  poll: Activity<PollRequest, Timed<StatusOutcome>>,
): Activity<PollRequest, Timed<StatusOutcome>> {
  const counted = countReads('order_screening_polls_total', poll);
  return (request, run) => (activityInfo().attempt === 1 ? poll(request, run) : counted(request, run));
}

type Read = Pick<PollRequest, 'integration'>;
type ReadResult = { outcome: StatusOutcome | undefined };

/** @returns the read, counted; one without an outcome only told the time */
function countReads<Request extends Read, Result extends ReadResult>(
  name: 'order_screening_polls_total' | 'order_screening_status_reads_total',
  read: Activity<Request, Result>,
): Activity<Request, Result> {
  const note = (integration: string, outcome: string): void =>
    counterOf(metricMeter, name).add(1, { integration, outcome });
  return async (request, run) => {
    try {
      const result = await read(request, run);
      const { outcome } = result;
      if (outcome !== undefined)
        note(request.integration, outcome.kind === 'read' ? outcome.decision : outcome.kind);
      return result;
    } catch (error) {
      note(request.integration, reasonOf(error));
      throw error;
    }
  };
}

/** @returns the portal action, counted; of a cancel that is done also how long before its last call that was */
function countPortalActions(
  perform: Activity<PortalRequest, Timed<PortalOutcome>>,
): Activity<PortalRequest, Timed<PortalOutcome>> {
  const note = ({ integration, fields, notAfter }: PortalRequest, outcome: string): void => {
    const { kind } = fields;
    counterOf(metricMeter, 'order_screening_portal_actions_total').add(1, { integration, kind, outcome });
    if (kind !== 'cancel' || outcome !== 'done' || notAfter === undefined) return;
    const timeLeft = histogramOf(metricMeter, 'order_screening_cancel_time_left_seconds');
    timeLeft.record(Math.max(0, Date.parse(notAfter) - Date.now()) / 1_000, { integration });
  };
  return async (request, run) => {
    try {
      const result = await perform(request, run);
      note(request, result.outcome.kind);
      return result;
    } catch (error) {
      note(request, reasonOf(error));
      throw error;
    }
  };
}

/** Notes a try to deliver an event, and how old the event is by now: the lag of the order service's knowledge. */
export function noteDelivery({ integration, type, occurredAt }: OrderEvent, delivered: boolean): void {
  const ages = histogramOf(metricMeter, 'order_screening_event_age_seconds');
  const outcome = delivered ? 'delivered' : 'failed';
  ages.record(Math.max(0, Date.now() - Date.parse(occurredAt)) / 1_000, { integration, type, outcome });
}

/** Our failures have a short word for their type; any other has no place in a label. */
function reasonOf(error: unknown): string {
  return error instanceof ApplicationFailure ? (error.type ?? 'unknown') : 'unknown';
}

// Says in each log line of an activity which attempt of its order it is about; the order itself is known by
// its workflow.

/** An interceptor for all workers. The SDK's own `attempt` counts an activity's tries. */
export const withAttemptInLog: ActivityInterceptorsFactory = () => {
  let attempt: number | undefined;
  return {
    inbound: {
      execute(input, next) {
        attempt = attemptIn(input.args[0]);
        return next(input);
      },
    },
    outbound: {
      getLogAttributes: (attributes, next) =>
        next(attempt === undefined ? attributes : { ...attributes, orderAttempt: attempt }),
    },
  };
};

function attemptIn(request: unknown): number | undefined {
  if (typeof request !== 'object' || request === null || !('attempt' in request)) return undefined;
  return typeof request.attempt === 'number' ? request.attempt : undefined;
}
