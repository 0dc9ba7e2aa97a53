import { DefaultLogger } from '@temporalio/worker';
import { afterEach, expect, it, vi } from 'vitest';
import type { OrderDirectory } from '../../src/activities/activity-world.ts';
import { type ActivityWorld, createActivities } from '../../src/activities/index.ts';
import { createCardStash } from '../../src/cards/index.ts';
import type { OrderEvent } from '../../src/orders/messages.ts';
import { perform } from './support.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A namespace in which these orders are open, and all of them stuck. */
function stuck(workflowIds: string[], changes: Partial<OrderDirectory> = {}): OrderDirectory {
  return {
    open: async () => ({ workflowIds }),
    overdue: async () => [],
    countByPhase: async () => new Map(),
    countAttention: async () => 0,
    lastSweep: async () => undefined,
    taskTries: async () => 100,
    ...changes,
  };
}

/** Sweeps once, quietly. */
function sweep(orders: OrderDirectory, events: NonNullable<ActivityWorld['events']>) {
  const world = { findIntegration: () => undefined, cards: createCardStash('memory:'), events, orders };
  const { background } = createActivities(world);
  const logger = new DefaultLogger('ERROR');
  return perform(() => background.sweep(), undefined, { logger });
}

it('tells of every stuck order, also of one that was started under a foreign id', async () => {
  const told: Pick<OrderEvent, 'id' | 'orderId' | 'integration'>[] = [];
  const events = async ({ id, orderId, integration }: OrderEvent) => {
    told.push({ id, orderId, integration });
  };
  await sweep(stuck(['order:shop:A:1', 'mine']), events);
  expect(told).toEqual([
    { id: 'sweep:order:shop:A:1:stuck', orderId: 'A:1', integration: 'shop' },
    { id: 'sweep:mine:stuck', orderId: '', integration: '' },
  ]);
});

/** A receiver that takes no event about the orders that are named; what it was asked to take. */
function receiver(refused: string[]) {
  const asked: string[] = [];
  const events = async ({ orderId }: OrderEvent) => {
    asked.push(orderId);
    if (refused.includes(orderId)) throw new Error('down');
  };
  return { asked, events };
}

const IDS = ['order:shop:A', 'order:shop:B', 'order:shop:C'];

it('tells of the others when the receiver does not take one, and of that one again in the next sweep', async () => {
  const { asked, events } = receiver(['B']);
  const first = await sweep(stuck(IDS), events);
  expect(asked).toEqual(['A', 'B', 'C']);
  expect(first.found.map(({ workflowId }) => workflowId)).toEqual(['order:shop:A', 'order:shop:C']);
  const again = receiver([]);
  const second = await sweep(stuck(IDS, { lastSweep: async () => first }), again.events);
  expect(again.asked).toEqual(['B']);
  expect(second.found).toHaveLength(3);
});

it('tells of what was not taken also when the next sweep looks at another page', async () => {
  const first = await sweep(stuck(['order:shop:A']), receiver(['A']).events);
  const { asked, events } = receiver([]);
  await sweep(stuck(['order:shop:Z'], { lastSweep: async () => first }), events);
  expect(asked).toEqual(['Z', 'A']);
});

it('goes on with the next page when the receiver is down', async () => {
  const open = async () => ({ workflowIds: IDS, cursor: 'next' });
  const { cursor, found, looked } = await sweep(stuck(IDS, { open }), receiver(['A', 'B', 'C']).events);
  expect({ cursor, found, looked }).toEqual({ cursor: 'next', found: [], looked: 3 });
});

it('leaves to the next sweep what a slow receiver has no time for', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const asked: string[] = [];
  const events = async ({ orderId }: OrderEvent) => {
    asked.push(orderId);
    vi.setSystemTime(Date.now() + 45_000);
  };
  expect((await sweep(stuck(IDS), events)).found).toHaveLength(2);
  expect(asked).toEqual(['A', 'B']);
});
