/** All metrics of all processes. No label contains an order or a person. */
import type { MetricCounter, MetricGauge, MetricHistogram, MetricMeter } from '@temporalio/common';
import type { AttentionCode } from '../../contract/words.ts';

type Process = 'worker' | 'API';

/** @param about its description in Markdown: its line in the guide and, without backticks, its help text */
function counter(about: string, from: Process = 'worker') {
  return { kind: 'counter', from, about } as const;
}

function gauge(about: string, from: Process = 'worker') {
  return { kind: 'gauge', from, about } as const;
}

/** @param bounds its buckets in seconds: the exporter's defaults are for milliseconds */
function histogram(about: string, bounds: readonly number[], from: Process = 'worker') {
  return { kind: 'histogram', from, about, bounds } as const;
}

/** The metrics by name. The table in `docs/operations.md` is generated from them. */
export const METRICS = {
  order_screening_decisions_total: counter(
    'decisions of orders, changes included, by `decision` and `source`',
  ),
  order_screening_screenings_total: counter(
    'tries at a decision by `stage` and `outcome`; `pending` with its `reason`',
  ),
  order_screening_screening_duration_seconds: histogram(
    'how long a try at a decision took, by `stage` and `outcome`',
    [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 7.5, 15, 30],
  ),
  order_screening_polls_total: counter('polls of reviews, by `outcome`'),
  order_screening_status_reads_total: counter(
    'reads after hints, after rechecks and before a window closes, by `outcome`',
  ),
  order_screening_portal_actions_total: counter('tries at portal actions by `kind` and `outcome`'),
  order_screening_wrong_key_total: counter(
    'calls for which the screening service did not accept the API key, by `operation`',
  ),
  order_screening_event_age_seconds: histogram(
    'age of an event at each try to deliver it, by `outcome`',
    [0.1, 0.5, 1, 5, 30, 60, 300, 1_800, 3_600, 21_600, 86_400, 259_200],
  ),
  order_screening_attention_total: counter('matters raised that need attention, by `reason`'),
  order_screening_open_orders: gauge('open orders by `phase`'),
  order_screening_attention_orders: gauge('open orders that need attention'),
  order_screening_overdue_orders: gauge('orders that are still open after their cancel window closed'),
  order_screening_stuck_orders: gauge('orders whose workflow task keeps failing'),
  order_screening_held_orders: gauge(
    'open orders that are held, by `reason`: an activity is `paused` by an operator, the order is `pinned` to a version, or for 15 minutes an activity is due (`late`) or the screening service answers no read (`unanswered`)',
  ),
  order_screening_lost_orders: gauge('orders that ended too early inside their cancel window, by `status`'),
  order_screening_last_sweep_timestamp_seconds: gauge(
    'when the last sweep ended, in seconds since the epoch',
  ),
  order_screening_queue_backlog_age_seconds: gauge('age of the oldest task waiting in a task queue'),
  order_screening_queue_backlog_tasks: gauge('tasks waiting in a task queue'),
  order_screening_hints_total: counter(
    'webhooks of the screening service, by whether an order was found',
    'API',
  ),
  order_screening_transaction_warnings_total: counter(
    'fields of transactions that were not sent, or are probably a mistake',
    'API',
  ),
  order_screening_refused_checkouts_total: counter(
    'checkouts refused for the content of a field (422), by field: no order was started',
    'API',
  ),
  order_screening_api_keys_refused: gauge(
    '1 while the file of `API_KEYS_FILE` is invalid and the previous keys remain in use; else 0',
    'API',
  ),
  // A checkout may take its budget of 7.5 s plus 2 s.
  order_screening_http_request_duration_seconds: histogram(
    'how long the API took to answer, by `route` and `status`',
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 7.5, 10, 15],
    'API',
  ),
};

type MetricName<Kind extends 'counter' | 'gauge' | 'histogram'> = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[keyof typeof METRICS];

export function namedAs<Name extends keyof typeof METRICS>(name: Name): { name: Name; help: string } {
  return { name, help: METRICS[name].about.replaceAll('`', '') };
}

export function histogramBounds(): Record<string, number[]> {
  const metrics = Object.entries(METRICS);
  return Object.fromEntries(
    metrics.flatMap(([name, one]) => ('bounds' in one ? [[name, [...one.bounds]]] : [])),
  );
}

export function counterOf(meter: MetricMeter, name: MetricName<'counter'>): MetricCounter {
  return meter.createCounter(name, undefined, namedAs(name).help);
}

export function countAttention(meter: MetricMeter, integration: string, reason: AttentionCode): void {
  counterOf(meter, 'order_screening_attention_total').add(1, { integration, reason });
}

/** @returns a histogram of the worker, in seconds */
export function histogramOf(meter: MetricMeter, name: MetricName<'histogram'>): MetricHistogram {
  return meter.createHistogram(name, 'float', undefined, namedAs(name).help);
}

export function gaugeOf(
  meter: MetricMeter,
  name: MetricName<'gauge'>,
  numbers: 'int' | 'float' = 'int',
): MetricGauge {
  return meter.createGauge(name, numbers, undefined, namedAs(name).help);
}
