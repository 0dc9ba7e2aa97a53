import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** One answer of the API: its route is a pattern, never an address. */
export interface Answered {
  method: string;
  route: string;
  status: number;
  durationMs: number;
}

export interface HttpMetrics {
  observe(answered: Answered): void;
  /** Counts a webhook's hint by what became of it. */
  noteHint(integration: string, outcome: string): void;
  contentType: string;
  /** Everything about the process and its HTTP, in Prometheus's text format. */
  text(): Promise<string>;
}

/** Counts answers by route and status. */
export function createHttpMetrics(): HttpMetrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const durations = new Histogram({
    name: 'order_screening_http_request_duration_seconds',
    help: 'How long the API took to answer',
    labelNames: ['method', 'route', 'status'],
    // A checkout may take its budget of 7.5 s and 2 s more.
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 7.5, 10, 15],
    registers: [register],
  });
  const hints = new Counter({
    name: 'order_screening_hints_total',
    help: 'Webhooks of the screening service, by whether an open order was found',
    labelNames: ['integration', 'outcome'],
    registers: [register],
  });
  return {
    noteHint: (integration, outcome) => hints.inc({ integration, outcome }),
    observe: ({ method, route, status, durationMs }) =>
      durations.observe({ method, route, status }, durationMs / 1_000),
    contentType: register.contentType,
    text: () => register.metrics(),
  };
}
