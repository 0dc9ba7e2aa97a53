/** History: events, bytes and state transitions of each kind of order over its whole life, and of reviews by their polls. */
import type { WorkflowHandle } from '@temporalio/client';
import type { BenchContext } from '../context.ts';
import { type Figure, type FigureInput, figureOf } from '../figures.ts';
import { median } from '../measure/statistics.ts';
import { anOrder } from '../orders.ts';
import { type Deployment, deploy } from '../stack/deployment.ts';
import { type Stack, withStack } from '../stack/stack.ts';
import { historyTargets, sameStepsTarget } from '../targets.ts';
import { decideAndTell, type Living, ORDER_KINDS, type OrderKind, untilAtRest } from './order-kinds.ts';
import { pollReview, pollsPolicy } from './polled-reviews.ts';

/** The cost of an order's whole life. */
interface Life {
  events: number;
  /** Events except those of workflow tasks. */
  steps: number;
  /** Workflow tasks. Their number varies, as two inputs that arrive together share one. */
  tasks: number;
  bytes: number;
  /** State transitions; each is a transaction of the server's database. */
  transitions: number;
}

const UNITS = ['events', 'steps', 'tasks', 'bytes', 'transitions'] as const;
const POLLED_KIND = 'review, passed by webhook';

export function benchHistory({ sizes, address, say }: BenchContext): Promise<Figure[]> {
  const { times, polls } = sizes.history;
  return withStack(address, async (stack) => {
    const kinds = ORDER_KINDS.map(({ policy }, index) => [`kind-${index}`, policy]);
    const reviews = polls.map((count) => [`polls-${count}`, pollsPolicy(count)]);
    const integrations = Object.fromEntries([...kinds, ...reviews]);
    const options = { namespace: 'bench-history', integrations, api: true };
    const all = await deploy(stack, options);
    say(
      `history: ${times} orders of each of ${ORDER_KINDS.length} kinds, and reviews of ${polls.join(', ')} polls`,
    );
    // The orders mostly wait, so they can run concurrently.
    const [polled, ...lives] = await Promise.all([
      polledFigures(stack, all, sizes.history),
      ...ORDER_KINDS.map((kind, index) => repeated(times, () => liveOn(stack, all, kind, `kind-${index}`))),
    ]);
    const figures = ORDER_KINDS.flatMap(({ name }, index) =>
      UNITS.flatMap((unit) => figureOf(figureInput(name, unit, lives[index] ?? []))),
    );
    return [...figures, ...polled];
  });
}

async function repeated<T>(times: number, one: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, one));
}

async function liveOn(stack: Stack, all: Deployment, kind: OrderKind, integration: string): Promise<Life> {
  const order = anOrder(kind.decision);
  const living: Living = { stack, all, integration, order };
  const endFault = kind.swallowed ? await stack.sandbox.swallowCreate(order.orderId) : undefined;
  await all.orders.screen({ ...order, integration });
  await endFault?.();
  if (kind.after !== undefined) {
    await untilAtRest(living);
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
        await untilAtRest(living);
        await pollReview(living, count);
        await decideAndTell(living, 'pass');
        return endOf(handleOf(living));
      }),
    ),
  );
  const first = median((reviews[0] ?? []).map(({ steps }) => steps));
  return polls.flatMap((count, index) => {
    const lives = reviews[index] ?? [];
    const name = `${POLLED_KIND} after ${count} ${count === 1 ? 'poll' : 'polls'}`;
    return UNITS.flatMap((unit) => {
      const targets = historyTargets(POLLED_KIND, unit);
      if (index > 0 && unit === 'steps') targets.push(sameStepsTarget(first));
      return figureOf({ ...figureInput(name, unit, lives), targets });
    });
  });
}

function figureInput(name: string, unit: (typeof UNITS)[number], lives: readonly Life[]): FigureInput {
  const value = median(lives.map((life) => life[unit]));
  return { part: 'history', name, unit, value, targets: historyTargets(name, unit) };
}

function handleOf({ all, integration, order }: Living): WorkflowHandle {
  return all.client.workflow.getHandle(`order:${integration}:${order.orderId}`);
}

/** Waits for the end of a workflow. */
async function endOf(handle: WorkflowHandle): Promise<Life> {
  await handle.result();
  const { events } = await handle.fetchHistory();
  const { historySize = 0, raw } = await handle.describe();
  const all = events ?? [];
  return {
    events: all.length,
    steps: all.filter((event) => !isOfWorkflowTask(event)).length,
    tasks: all.filter((event) => event.workflowTaskScheduledEventAttributes).length,
    bytes: historySize,
    transitions: Number(raw.workflowExecutionInfo?.stateTransitionCount ?? 0),
  };
}

function isOfWorkflowTask(event: object): boolean {
  return Object.entries(event).some(([name, value]) => name.startsWith('workflowTask') && Boolean(value));
}
