/** The five things that will happen, each as a drill: what breaks, what the log must say, what to do, how one knows that it is over. */

import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { LogLine } from './log-lines.ts';
import type { Shop } from './shop.ts';
import type { Stack } from './stack.ts';

export interface Drill {
  name: string;
  /** What happens, in one line. */
  about: string;
  /** The alert that tells of it, of `deploy/prometheus/alerts.yml`, and when. */
  alert: string;
  alertWhen: string;
  /** What that alert counts, as the metrics show it soon after the break. */
  counted: { by: 'API' | 'worker'; build?: string; sample: RegExp };
  /** What a team sees, beside the log. */
  seen: readonly string[];
  /** The line of the log that names the cause: its words, and what it says of it beside them. */
  cause: { words: string; says: string };
  todo: readonly string[];
  /** How one knows that it is over, in words; `isOver` looks. */
  over: string;
  /** What is there when it breaks, beside an order that has passed. */
  before?: (stack: Stack, shop: Shop) => Promise<void>;
  break: (stack: Stack) => Promise<void>;
  /** What the shop orders meanwhile. */
  orders: 'pass' | 'review';
  mend: (stack: Stack) => Promise<void>;
  isOver: (stack: Stack, shop: Shop) => Promise<boolean>;
}

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
/** Of the order service's key at the screening service, after it was changed there. */
const CHANGED_KEY = 'a-key-that-was-made-in-the-portal';

const serviceDown: Drill = {
  name: 'service-down',
  about: 'the screening service is down: nobody listens at its address',
  alert: 'OrderScreeningPending',
  alertWhen: 'after five minutes in which over 10% of the checkouts got no decision in time',
  counted: {
    by: 'worker',
    sample: /^order_screening_screenings_total\{.*outcome="pending".*\} [1-9]/m,
  },
  seen: [
    'Checkouts are answered all the same: `pending`, with the action of the policy `whenUnavailable`, here `hold`.',
    'After five failures in a row they are answered at once, without a try.',
  ],
  cause: { words: 'the screening service does not answer', says: 'connection-refused' },
  todo: [
    'Look at the service’s status page; from a worker’s machine, whether its address answers at all (`order-screening doctor`).',
    'Nothing has to be repeated by hand: the orders are tried again by themselves, at pauses that grow to five minutes.',
  ],
  over: 'a new checkout gets a decision at once, and so did every order of the outage',
  orders: 'pass',
  break: ({ service }) => service.stop(),
  mend: ({ service }) => service.start(),
  isOver: async (_stack, shop) => (await shop.place('pass')).status === 200,
};

const wrongKey: Drill = {
  name: 'wrong-key',
  about: 'the screening service no longer accepts our API key',
  alert: 'OrderScreeningWrongKey',
  alertWhen: 'at once',
  counted: {
    by: 'worker',
    sample: /^order_screening_attention_total\{.*reason="wrong-key".*\} [1-9]/m,
  },
  seen: [
    'Checkouts are answered `pending`, with the action of the policy `whenUnavailable`, here `hold`.',
    'Each order has the attention `wrong-key`: `GET /v1/orders?attention=true`, and the queue page.',
  ],
  cause: { words: 'the screening service does not accept our API key', says: 'forbidden' },
  todo: [
    'Get the right key from the service’s portal, put it into `SCREENING_API_KEY` and roll the workers (here: one restart).',
    'The orders go on by themselves within a minute.',
  ],
  over: 'no order needs attention any more',
  orders: 'pass',
  break: async ({ service }) => service.takeKey(CHANGED_KEY),
  mend: ({ restartWorker }) => restartWorker({ id: 'v1', serviceKey: CHANGED_KEY }),
  isOver: async (_stack, shop) => (await needAttention(shop)) === 0,
};

const temporalDown: Drill = {
  name: 'temporal-down',
  about: 'Temporal’s server is killed',
  alert: 'OrderScreeningApiFails',
  alertWhen: 'after five minutes in which over 2% of a route’s answers were errors',
  counted: {
    by: 'API',
    sample: /^order_screening_http_request_duration_seconds_count\{.*status="503".*\} [1-9]/m,
  },
  seen: [
    'Checkouts are answered with 503: nobody knows what became of them, and the order service sends the same attempt again.',
    '`/readyz` of the API answers 503, `/healthz` 200: there is no reason to restart it.',
  ],
  cause: { words: 'Temporal can not be reached, the call is tried again', says: 'ConnectionRefused' },
  todo: [
    'Look at Temporal’s server and its database, and bring them up again.',
    'Leave workers and API as they are: they connect again by themselves.',
  ],
  over: '`/readyz` of the API is 200 again, and a checkout that is sent again gets its decision',
  before: async (_stack, shop) => void (await shop.place('review')),
  orders: 'pass',
  break: ({ temporal }) => temporal.stop(),
  mend: ({ temporal }) => temporal.start(),
  isOver: async (_stack, shop) => (await shop.get('/readyz')).status === 200,
};

const eventsDown: Drill = {
  name: 'events-down',
  about: 'the receiver of events is down: the order service hears of no change',
  alert: 'OrderScreeningEventsLag',
  alertWhen: 'when events older than five minutes still aren’t taken',
  counted: {
    by: 'worker',
    sample: /^order_screening_event_age_seconds_count\{.*outcome="failed".*\} [1-9]/m,
  },
  seen: [
    'Checkouts get their decisions as ever. What changes later isn’t told: the order’s `events.waiting` grows.',
    'Events are kept, in order, for three days.',
  ],
  cause: { words: 'the receiver of events did not take an event', says: 'connection-refused' },
  todo: [
    'Bring the service behind `EVENTS_URL` up again. It gets the events by itself, each order’s in order, at pauses that grow to six hours.',
    'Who can’t wait for the next try reads the order: `GET /v1/orders/{id}`.',
  ],
  over: 'no order has events that wait (`events.waiting` is 0), and the receiver has them',
  orders: 'pass',
  break: ({ receiver }) => receiver.stop(),
  mend: ({ receiver }) => receiver.start(),
  isOver: async ({ receiver }, shop) => {
    const waiting = await Promise.all(shop.placed.map((orderId) => eventsWaiting(shop, orderId)));
    return waiting.every((count) => count === 0) && shop.placed.every((id) => receiver.taken(id).length > 0);
  },
};

const releaseFails: Drill = {
  name: 'release-fails',
  about: 'a release of the worker is rolled out whose code fails at every order',
  alert: 'OrderScreeningWorkflowTasksFail',
  alertWhen: 'after two minutes',
  counted: {
    by: 'worker',
    build: 'v2',
    sample: /^temporal_workflow_task_execution_failed\{.*\} [1-9]/m,
  },
  seen: [
    'Checkouts are answered with 503: their orders have begun, and wait; the order service sends the same attempt again.',
    'Open orders stand still with nothing lost; the Temporal UI shows the error at an order’s last event.',
  ],
  cause: { words: 'this build can not run an order, its task is tried again', says: 'TypeError' },
  todo: [
    'Back it out: make the build before current again, `WORKER_BUILD_ID=v1 npm run setup:temporal` (its workers must be running).',
    'Then stop the workers of the failing build, and find out why in peace.',
  ],
  over: 'the orders that stood still have their decisions',
  before: async (_stack, shop) => void (await shop.place('review')),
  orders: 'pass',
  break: async ({ startWorker, makeCurrent }) => {
    await startWorker({ id: 'v2', script: file('failing-release.ts') });
    await makeCurrent('v2');
  },
  mend: ({ makeCurrent }) => makeCurrent('v1'),
  isOver: async (_stack, shop) => (await shop.place('pass')).status === 200,
};

/** In the order in which they are listed. */
export const DRILLS: readonly Drill[] = [serviceDown, wrongKey, temporalDown, eventsDown, releaseFails];

/** @returns whether the line names the drill's cause */
export function namesCause({ cause }: Drill, { words, fields }: LogLine): boolean {
  return words === cause.words && JSON.stringify(fields).includes(`"${cause.says}"`);
}

const attentionList = z.object({ orders: z.array(z.unknown()) });
const orderWithEvents = z.object({ events: z.object({ waiting: z.number() }) });

// What has no answer yet, after a fault or on a busy machine, isn't over: it is looked at again.

async function needAttention(shop: Shop): Promise<number | undefined> {
  const { body } = await shop.get('/v1/orders?attention=true');
  return attentionList.safeParse(body).data?.orders.length;
}

async function eventsWaiting(shop: Shop, orderId: string): Promise<number | undefined> {
  const { body } = await shop.get(`/v1/orders/${orderId}`);
  return orderWithEvents.safeParse(body).data?.events.waiting;
}
