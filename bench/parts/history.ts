/** History: events, bytes and state transitions of each kind of order over its whole life, and of reviews by their polls. */
import type { WorkflowHandle } from '@temporalio/client';
import { type BenchContext, type Figure, figureOf } from '../figures.ts';
import { median } from '../measure/statistics.ts';
import { anOrder } from '../orders.ts';
import { type Deployment, deploy } from '../stack/deployment.ts';
import { type Stack, withStack } from '../stack/stack.ts';
import { historyTargets, sameStepsTarget } from '../targets.ts';
import { type Living, ORDER_KINDS, type OrderKind, polledReview, untilAtRest } from './order-kinds.ts';

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

const UNITS = ['events', 'steps', 'tasks', 'bytes', 'transitions'] as const satisfies (keyof Life)[];

export function benchHistory({ sizes, address, say }: BenchContext): Promise<Figure[]> {
  const { times, polls } = sizes.history;
  const polled = polls.map(polledReview);
  const kinds = [...ORDER_KINDS, ...polled];
  return withStack(address, async (stack) => {
    const integrations = Object.fromEntries(kinds.map(({ policy }, index) => [`kind-${index}`, policy]));
    const all = await deploy(stack, { namespace: 'bench-history', integrations, api: true });
    say(
      `history: ${times} orders of each of ${kinds.length} kinds, reviews of ${polls.join(', ')} polls among them`,
    );
    // The orders mostly wait, so they can run concurrently.
    const lives = await Promise.all(
      kinds.map((kind, index) =>
        Promise.all(Array.from({ length: times }, () => liveOn(stack, all, kind, `kind-${index}`))),
      ),
    );
    const middle = (index: number, unit: keyof Life) =>
      median((lives[index] ?? []).map((life) => life[unit]));
    const fewestPolls = middle(ORDER_KINDS.length, 'steps');
    return kinds.flatMap((kind, index) =>
      UNITS.flatMap((unit) => {
        const targets = historyTargets(kind.limitsOf ?? kind.name, unit);
        if (polled.indexOf(kind) > 0 && unit === 'steps') targets.push(sameStepsTarget(fewestPolls));
        return figureOf({ part: 'history', name: kind.name, unit, value: middle(index, unit), targets });
      }),
    );
  });
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
  return endOf(all.client.workflow.getHandle(`order:${integration}:${order.orderId}`));
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
