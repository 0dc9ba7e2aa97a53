import { expect, it } from 'vitest';
import { createActivities, type OrderDirectory } from '../../src/activities/index.ts';
import { createCardStash } from '../../src/cards/index.ts';
import type { OrderEvent } from '../../src/orders/messages.ts';
import { perform } from './support.ts';

/** A namespace in which these orders are open, and all of them stuck. */
function stuck(workflowIds: string[]): OrderDirectory {
  return {
    open: async () => ({ workflowIds }),
    overdue: async () => [],
    countByPhase: async () => new Map(),
    countAttention: async () => 0,
    lastSweep: async () => undefined,
    taskTries: async () => 100,
  };
}

it('tells of every stuck order, also of one that was started under a foreign id', async () => {
  const told: Pick<OrderEvent, 'id' | 'orderId' | 'integration'>[] = [];
  const events = async ({ id, orderId, integration }: OrderEvent) => {
    told.push({ id, orderId, integration });
  };
  const { background } = createActivities({
    findIntegration: () => undefined,
    cards: createCardStash('memory:'),
    events,
    orders: stuck(['order:shop:A:1', 'mine']),
  });
  await perform(() => background.sweep(), undefined);
  expect(told).toEqual([
    { id: 'sweep:order:shop:A:1:stuck', orderId: 'A:1', integration: 'shop' },
    { id: 'sweep:mine:stuck', orderId: '', integration: '' },
  ]);
});
