/** History: events, bytes, billed actions and state transitions of each kind of order over its whole life, and of reviews by their polls. */
import type { WorkflowHandle } from '@temporalio/client';
import type { BenchContext } from '../context.ts';
import { type Figure, figureOf, type Target } from '../figures.ts';
import { type Floor, startFloor } from '../floor/floor.ts';
import { billedActions } from '../measure/actions.ts';
import { median } from '../measure/statistics.ts';
import { anOrder } from '../orders.ts';
import { type Deployment, deploy } from '../stack/deployment.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { eventsTarget, PASSED_EVENTS_TARGET, REVIEW_EVENTS_TARGET } from '../targets.ts';
import { decideAndTell, type Living, ORDER_KINDS, type OrderKind, untilTold } from './order-kinds.ts';
import { polledReview, pollsPolicy } from './polled-reviews.ts';

/** What an order's whole life came to. */
interface Life {
  events: number;
  /** Events but those of workflow tasks, whose number is chance: two things that end together share one or not. */
  steps: number;
  bytes: number;
  actions: number;
  /** State transitions: each is a transaction of the server's database. */
  transitions: number;
}

const POLLS_A_SECOND = 2_000;

export async function benchHistory({ sizes, address, nodeArgs, say }: BenchContext): Promise<Figure[]> {
  const { times, polls, windowMs } = sizes.history;
  const stack = await startStack(address);
  try {
    const kinds = ORDER_KINDS.map(({ policy }, index) => [`kind-${index}`, policy]);
    const reviews = polls.map((count) => [`polls-${count}`, pollsPolicy(count, windowMs)]);
    const integrations = Object.fromEntries([...kinds, ...reviews]);
    const options = { namespace: 'bench-history', integrations, api: true, maxRps: POLLS_A_SECOND, nodeArgs };
    const all = await deploy(stack, options);
    const floor = await startFloor(stack, { namespace: 'bench-floor' });
    try {
      say(`history: ${times} orders of each of ${ORDER_KINDS.length} kinds`);
      const [floorLife, plainLife] = await theirLives(floor);
      const lives = await Promise.all(
        ORDER_KINDS.map((kind, index) => repeated(times, () => liveOn(stack, all, kind, `kind-${index}`))),
      );
      const figures = ORDER_KINDS.flatMap((kind, index) =>
        lifeFigures(kind.name, lives[index] ?? [], targetOf(kind), floorLife, plainLife),
      );
      say(`history: reviews of ${polls.join(', ')} polls`);
      return [...figures, ...(await polledFigures(stack, all, sizes.history))];
    } finally {
      await Promise.all([all.stop(), floor.stop()]);
    }
  } finally {
    await stack.stop();
  }
}

async function repeated<T>(times: number, one: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, one));
}

/** The floor's and the plain way's, which end with their decision. */
async function theirLives({ client, decide, decidePlainly }: Floor): Promise<[Life, Life]> {
  const order = anOrder();
  await decide(order);
  await decidePlainly(order, false);
  const { workflow } = client;
  return [
    await endOf(workflow.getHandle(`floor:${order.orderId}`)),
    await endOf(workflow.getHandle(`plain:${order.orderId}`)),
  ];
}

async function liveOn(stack: Stack, all: Deployment, kind: OrderKind, integration: string): Promise<Life> {
  const order = anOrder(kind.decision);
  const living: Living = { stack, all, integration, order };
  const answerAgain = kind.swallowed ? await stack.sandbox.swallowCreate(order.orderId) : undefined;
  await all.orders.screen({ ...order, integration });
  await answerAgain?.();
  if (kind.after !== undefined) {
    await untilTold(living);
    await kind.after(living);
  }
  return endOf(handleOf(living));
}

function targetOf({ name }: OrderKind): Target[] {
  if (name === 'passed') return [PASSED_EVENTS_TARGET];
  return name === 'review, passed by webhook' ? [REVIEW_EVENTS_TARGET] : [];
}

async function polledFigures(
  stack: Stack,
  all: Deployment,
  { times, polls }: BenchContext['sizes']['history'],
): Promise<Figure[]> {
  const reviews = await Promise.all(
    polls.map((count) =>
      repeated(times, async () => {
        const living = { stack, all, integration: `polls-${count}`, order: anOrder('review') };
        await all.orders.screen({ ...living.order, integration: living.integration });
        await untilTold(living);
        const made = await polledReview(living, count, handleOf(living));
        await decideAndTell(living, 'pass');
        return { ...(await endOf(handleOf(living), made.tries)), polls: made.polls };
      }),
    ),
  );
  const first = median((reviews[0] ?? []).map(({ events }) => events));
  return polls.flatMap((count, index) => {
    const lives = reviews[index] ?? [];
    const made = median(lives.map((life) => life.polls));
    const targets = index === 0 ? [REVIEW_EVENTS_TARGET] : [REVIEW_EVENTS_TARGET, eventsTarget(first)];
    const name = `review, passed by webhook after ${count} ${count === 1 ? 'poll' : 'polls'}`;
    return lifeFigures(name, lives, targets).map((figure) => ({
      ...figure,
      note: `${made} polls were made`,
    }));
  });
}

function handleOf({ all, integration, order }: Living): WorkflowHandle {
  return all.client.workflow.getHandle(`order:${integration}:${order.orderId}`);
}

function isStep(event: {
  workflowTaskScheduledEventAttributes?: unknown;
  workflowTaskStartedEventAttributes?: unknown;
  workflowTaskCompletedEventAttributes?: unknown;
}): boolean {
  return !(
    event.workflowTaskScheduledEventAttributes ||
    event.workflowTaskStartedEventAttributes ||
    event.workflowTaskCompletedEventAttributes
  );
}

/** Waits for the end of a workflow. @param tries of activities that its history doesn't hold */
async function endOf(handle: WorkflowHandle, tries = 0): Promise<Life> {
  await handle.result();
  const { events } = await handle.fetchHistory();
  const { historySize = 0, raw } = await handle.describe();
  return {
    events: events?.length ?? 0,
    steps: events?.filter(isStep).length ?? 0,
    bytes: historySize,
    actions: billedActions(events ?? [], tries),
    transitions: Number(raw.workflowExecutionInfo?.stateTransitionCount ?? 0),
  };
}

function lifeFigures(
  name: string,
  lives: readonly Life[],
  targets: readonly Target[],
  floor?: Life,
  plain?: Life,
): Figure[] {
  // Two things that end together share a workflow task or not: the median is the common case.
  return (['events', 'steps', 'bytes', 'actions', 'transitions'] as const).flatMap((unit) =>
    figureOf({
      part: 'history',
      name,
      unit,
      value: median(lives.map((life) => life[unit])),
      floor: floor?.[unit],
      plain: plain?.[unit],
      ...(unit === 'events' && { targets }),
    }),
  );
}
