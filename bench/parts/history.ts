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
import { historyTargets, sameStepsTarget } from '../targets.ts';
import { decideAndTell, type Living, ORDER_KINDS, type OrderKind, untilTold } from './order-kinds.ts';
import { polledReview, pollsPolicy } from './polled-reviews.ts';

/** What an order's whole life came to. */
interface Life {
  events: number;
  /** Events but those of workflow tasks. */
  steps: number;
  /** Workflow tasks: their number is chance, as two things that end together share one or not. */
  tasks: number;
  bytes: number;
  actions: number;
  /** State transitions: each is a transaction of the server's database. */
  transitions: number;
}

const POLLS_A_SECOND = 2_000;
const POLLED_KIND = 'review, passed by webhook';

export async function benchHistory({ sizes, address, nodeArgs, say }: BenchContext): Promise<Figure[]> {
  const { times, polls } = sizes.history;
  const stack = await startStack(address);
  try {
    const kinds = ORDER_KINDS.map(({ policy }, index) => [`kind-${index}`, policy]);
    const reviews = polls.map((count) => [`polls-${count}`, pollsPolicy(count)]);
    const integrations = Object.fromEntries([...kinds, ...reviews]);
    const options = { namespace: 'bench-history', integrations, api: true, maxRps: POLLS_A_SECOND, nodeArgs };
    const all = await deploy(stack, options);
    const floor = await startFloor(stack, { namespace: 'bench-floor' });
    try {
      say(
        `history: ${times} orders of each of ${ORDER_KINDS.length} kinds, and reviews of ${polls.join(', ')} polls`,
      );
      const [floorLife, plainLife] = await theirLives(floor);
      // They mostly wait, so they live side by side.
      const [polled, ...lives] = await Promise.all([
        polledFigures(stack, all, sizes.history),
        ...ORDER_KINDS.map((kind, index) => repeated(times, () => liveOn(stack, all, kind, `kind-${index}`))),
      ]);
      const figures = ORDER_KINDS.flatMap((kind, index) =>
        lifeFigures(kind.name, lives[index] ?? [], {
          targets: (unit) => historyTargets(kind.name, unit),
          floor: floorLife,
          plain: plainLife,
        }),
      );
      return [...figures, ...polled];
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
  const first = median((reviews[0] ?? []).map(({ steps }) => steps));
  return polls.flatMap((count, index) => {
    const lives = reviews[index] ?? [];
    const name = `${POLLED_KIND} after ${count} ${count === 1 ? 'poll' : 'polls'}`;
    const targets = (unit: string) => [
      ...historyTargets(POLLED_KIND, unit),
      ...(index > 0 && unit === 'steps' ? [sameStepsTarget(first)] : []),
    ];
    const note = `${median(lives.map((life) => life.polls))} polls were made`;
    return lifeFigures(name, lives, { targets, note });
  });
}

function handleOf({ all, integration, order }: Living): WorkflowHandle {
  return all.client.workflow.getHandle(`order:${integration}:${order.orderId}`);
}

function isOfTask(event: {
  workflowTaskScheduledEventAttributes?: unknown;
  workflowTaskStartedEventAttributes?: unknown;
  workflowTaskCompletedEventAttributes?: unknown;
  workflowTaskFailedEventAttributes?: unknown;
  workflowTaskTimedOutEventAttributes?: unknown;
}): boolean {
  return Boolean(
    event.workflowTaskScheduledEventAttributes ||
      event.workflowTaskStartedEventAttributes ||
      event.workflowTaskCompletedEventAttributes ||
      event.workflowTaskFailedEventAttributes ||
      event.workflowTaskTimedOutEventAttributes,
  );
}

/** Waits for the end of a workflow. @param tries of activities that its history doesn't hold */
async function endOf(handle: WorkflowHandle, tries = 0): Promise<Life> {
  await handle.result();
  const { events } = await handle.fetchHistory();
  const { historySize = 0, raw } = await handle.describe();
  const all = events ?? [];
  return {
    events: all.length,
    steps: all.filter((event) => !isOfTask(event)).length,
    tasks: all.filter(({ workflowTaskScheduledEventAttributes }) => workflowTaskScheduledEventAttributes)
      .length,
    bytes: historySize,
    actions: billedActions(all, tries),
    transitions: Number(raw.workflowExecutionInfo?.stateTransitionCount ?? 0),
  };
}

function lifeFigures(
  name: string,
  lives: readonly Life[],
  beside: { targets: (unit: string) => Target[]; floor?: Life; plain?: Life; note?: string },
): Figure[] {
  const { targets, floor, plain, note } = beside;
  return (['events', 'steps', 'tasks', 'bytes', 'actions', 'transitions'] as const).flatMap((unit) =>
    figureOf({
      part: 'history',
      name,
      unit,
      value: median(lives.map((life) => life[unit])),
      floor: floor?.[unit],
      plain: plain?.[unit],
      targets: targets(unit),
      note,
    }),
  );
}
