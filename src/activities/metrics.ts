/** Metrics and log attributes of the activities. They contain no personal data. */
import { metricMeter } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { OrderEvent } from '../contract/messages.ts';
import { fieldsOf, textOf } from '../order/messages/shapes.ts';
import { counterOf, histogramOf } from '../order/view/metrics.ts';

interface Call {
  integration: string;
  request: Record<string, unknown>;
  /** How it ended: the decision, else the kind of its outcome, or `failed`. */
  outcome: string;
  reason: string;
  seconds: number;
}

const COUNTED: Record<string, (call: Call) => void> = {
  screenAtCheckout: (call) => countScreening('checkout', call),
  screenRetry: (call) => countScreening('retry', call),
  catchUp: (call) => countScreening('catch-up', call),
  readStatus: (call) => countRead('order_screening_status_reads_total', call),
  readStatusLast: (call) => countRead('order_screening_status_reads_total', call),
  pollStatus: (call) => countRead('order_screening_polls_total', call),
  performPortalAction: countPortalAction,
};

/** Records metrics of activities, and adds `orderAttempt` to log lines, since the SDK's `attempt` is that of the activity. */
export const withMetrics: ActivityInterceptorsFactory = ({ info }) => {
  let orderAttempt: unknown;
  return {
    inbound: {
      async execute(input, next) {
        const request = fieldsOf(input.args[0]);
        orderAttempt = request.attempt;
        const count = COUNTED[info.activityType];
        // The first call of a poll only starts the first interval.
        if (count === undefined || (info.activityType === 'pollStatus' && info.attempt === 1))
          return next(input);
        const began = performance.now();
        const note = (end: Pick<Call, 'outcome' | 'reason'>): void => {
          const integration = textOf(request.integration) ?? '';
          count({ integration, request, ...end, seconds: (performance.now() - began) / 1_000 });
        };
        try {
          const result = await next(input);
          note(endOf(fieldsOf(result)));
          return result;
        } catch (error) {
          note({ outcome: 'failed', reason: reasonOf(error) });
          throw error;
        }
      },
    },
    outbound: {
      getLogAttributes: (attributes, next) =>
        next(typeof orderAttempt === 'number' ? { ...attributes, orderAttempt } : attributes),
    },
  };
};

/** A result without an outcome is a refusal, or belongs to a read that only reported the time. */
function endOf({ outcome, refusal }: Record<string, unknown>): Pick<Call, 'outcome' | 'reason'> {
  if (refusal !== undefined) return { outcome: 'failed', reason: 'refused' };
  const { kind, decision, reason } = fieldsOf(outcome);
  return { outcome: textOf(decision) ?? textOf(kind) ?? '', reason: textOf(reason) ?? '' };
}

const SCREENING_ENDS: Record<string, string> = {
  unanswered: 'pending',
  refused: 'error',
  unreadable: 'error',
  forbidden: 'error',
};

/** The outcome is the decision, `skipped`, or the reason why there is no decision. */
function countScreening(stage: string, { integration, outcome: end, reason, seconds }: Call): void {
  const outcome = SCREENING_ENDS[end] ?? end;
  const why = end === 'forbidden' ? 'forbidden' : reason;
  const screenings = counterOf(metricMeter, 'order_screening_screenings_total');
  screenings.add(1, { integration, stage, outcome, reason: why });
  const durations = histogramOf(metricMeter, 'order_screening_screening_duration_seconds');
  durations.record(seconds, { integration, stage, outcome });
}

/** Also counts polls with the result `unchanged`. A read without an outcome only reported the time and isn't counted. */
function countRead(
  name: 'order_screening_polls_total' | 'order_screening_status_reads_total',
  { integration, outcome: end, reason }: Call,
): void {
  const outcome = end === 'failed' ? reason : end;
  if (outcome !== '') counterOf(metricMeter, name).add(1, { integration, outcome });
}

function countPortalAction({ integration, request, outcome: end, reason }: Call): void {
  const kind = textOf(fieldsOf(request.fields).kind) ?? '';
  const outcome = end === 'failed' ? reason : end;
  counterOf(metricMeter, 'order_screening_portal_actions_total').add(1, { integration, kind, outcome });
}

export function noteDelivery({ integration, type, occurredAt }: OrderEvent, delivered: boolean): void {
  const ages = histogramOf(metricMeter, 'order_screening_event_age_seconds');
  const outcome = delivered ? 'delivered' : 'failed';
  ages.record(Math.max(0, Date.now() - Date.parse(occurredAt)) / 1_000, { integration, type, outcome });
}

/** The type of our own failures, a short word. Other errors become `unknown`, to keep arbitrary text out of labels. */
function reasonOf(error: unknown): string {
  return error instanceof ApplicationFailure ? (error.type ?? 'unknown') : 'unknown';
}
