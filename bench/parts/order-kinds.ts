/** Kinds of order, each with its steps from the checkout to its end. */
import { eventually } from '../../test/support/eventually.ts';
import { anOrder, type BenchOrder } from '../orders.ts';
import { type Deployment, WEBHOOK_SECRET } from '../stack/deployment.ts';
import { requestJson } from '../stack/request-json.ts';
import type { Stack } from '../stack/stack.ts';

/** An open order. */
export interface Living {
  stack: Stack;
  all: Deployment;
  integration: string;
  order: BenchOrder;
}

export interface OrderKind {
  name: string;
  policy: object;
  decision: Parameters<typeof anOrder>[0];
  /** The kind whose limits it has, unless they are its own. */
  limitsOf?: string;
  /** The screening service commits the checkout's request and doesn't answer it. */
  swallowed?: boolean;
  after?: (living: Living) => Promise<void>;
}

/** Long enough that the last read ends before the window also on a slow machine; otherwise the end is recorded twice. */
const LIFE = { cancelWindow: '40s', reviewLeadTime: '20s', recheckLeadTime: '20s' };
const SELDOM = { first: '1h', factor: 1, max: '1h' };
const WITHIN_MS = 60_000;

export const ORDER_KINDS: readonly OrderKind[] = [
  { name: 'passed', policy: LIFE, decision: 'pass' },
  { name: 'passed, all events', policy: { ...LIFE, events: 'all' }, decision: 'pass' },
  { name: 'declined', policy: { ...LIFE, retryWithin: '2s' }, decision: 'fail' },
  {
    name: 'declined, then passed',
    policy: LIFE,
    decision: 'fail',
    after: async ({ all, order, integration }) => {
      const { transaction } = anOrder('pass');
      await all.orders.retry({ orderId: order.orderId, integration, attempt: 2, transaction });
    },
  },
  {
    name: 'review, passed by webhook',
    policy: { ...LIFE, poll: SELDOM },
    decision: 'review',
    after: (living) => decideAndTell(living, 'pass'),
  },
  {
    name: 'review, passed by webhook, all events',
    policy: { ...LIFE, poll: SELDOM, events: 'all' },
    decision: 'review',
    after: (living) => decideAndTell(living, 'pass'),
  },
  {
    name: 'review, passed by poll',
    policy: { ...LIFE, poll: { first: '1s', factor: 1, max: '1s' } },
    decision: 'review',
    after: async ({ stack, order }) => stack.sandbox.decide(order.orderId, 'pass'),
  },
  {
    name: 'review, failed by webhook and canceled',
    policy: { ...LIFE, poll: SELDOM },
    decision: 'review',
    after: (living) => decideAndTell(living, 'fail'),
  },
  {
    name: 'fraudulent after acceptance, canceled',
    policy: { ...LIFE, workflow: 'post-acceptance' },
    decision: 'fraudulent',
  },
  {
    name: 'no answer at checkout, passed later',
    policy: { ...LIFE, checkoutBudget: '500ms' },
    decision: 'pass',
    swallowed: true,
  },
];

/** Decides as an analyst, and sends the screening service's webhook. */
async function decideAndTell(living: Living, decision: string): Promise<void> {
  const { stack, all, integration, order } = living;
  await stack.sandbox.decide(order.orderId, decision);
  const webhook = `${all.api?.url ?? ''}/v1/webhooks/${integration}/${WEBHOOK_SECRET}`;
  await requestJson('POST', webhook, { invoiceNumber: order.orderId });
}

/** Waits until the order's events are delivered and no activity runs for the first time, as in an order that has been open for days. */
export async function untilAtRest({ all, integration, order }: Living): Promise<void> {
  const handle = all.client.workflow.getHandle(`order:${integration}:${order.orderId}`);
  await eventually(
    async () => {
      const { events, policy } = await all.orders.get({ orderId: order.orderId, integration });
      const { raw } = await handle.describe();
      const busy = raw.pendingActivities?.some(({ attempt }) => (attempt ?? 1) < 2) === true;
      return !busy && events.waiting === 0 && (events.delivered > 0 || policy?.events !== 'all');
    },
    { timeoutMs: WITHIN_MS, intervalMs: 50 },
  );
}

const POLLED_KIND = 'review, passed by webhook';
const POLLED_WITHIN_MS = 3_600_000;
/** Long enough to end the polls after an exact number of them. */
const PAUSE_MS = 2_000;
/** Temporal's timers fire up to a second late. */
const POLL_TAKES_MS = 1_200;
const BEFORE_AND_AFTER_MS = 40_000;
/** A poll that is postponed this long is not repeated before the webhook. */
const POSTPONED_SECONDS = 3_600;

/** @returns reviews that a webhook ends after so many polls; their cancel window holds as many */
export function polledReview(polls: number): OrderKind {
  return {
    name: `${POLLED_KIND} after ${polls} ${polls === 1 ? 'poll' : 'polls'}`,
    limitsOf: POLLED_KIND,
    policy: {
      ...LIFE,
      cancelWindow: `${BEFORE_AND_AFTER_MS + polls * (PAUSE_MS + POLL_TAKES_MS)}ms`,
      poll: { first: `${PAUSE_MS}ms`, factor: 1, max: `${PAUSE_MS}ms` },
    },
    decision: 'review',
    after: async (living) => {
      await untilPolled(living, polls);
      await decideAndTell(living, 'pass');
    },
  };
}

/**
 * Waits for so many polls of a review. The last is answered with 429, which postpones the next one, as in a review that takes
 * days; a webhook then finds no poll running.
 */
async function untilPolled({ stack, order }: Living, polls: number): Promise<void> {
  const { sandbox } = stack;
  const made = () => sandbox.requests(order.orderId, 'status-by-url');
  const patience = { timeoutMs: POLLED_WITHIN_MS, intervalMs: 50 };
  await eventually(async () => (await made()).length >= polls - 1, patience);
  const endFault = await sandbox.putOffPoll(order.orderId, POSTPONED_SECONDS);
  await eventually(async () => (await made()).some(({ fault }) => fault === '429'), patience);
  await endFault();
}
