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
export const LIFE = { cancelWindow: '40s', reviewLeadTime: '20s', recheckLeadTime: '20s' };
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
export async function decideAndTell(living: Living, decision: string): Promise<void> {
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
