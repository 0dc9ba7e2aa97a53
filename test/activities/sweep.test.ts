import { DefaultLogger } from '@temporalio/worker';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EventSender, OrderDirectory } from '../../src/activities/activity-world.ts';
import { type ActivityWorld, createActivities } from '../../src/activities/index.ts';
import { Sweeper } from '../../src/activities/sweep.ts';
import { createCardStash } from '../../src/cards/index.ts';
import type { OrderEvent } from '../../src/contract/messages.ts';
import { MACHINE } from '../../src/screening/index.ts';
import { noOrders, perform } from './support.ts';

afterEach(() => {
  vi.useRealTimers();
});

const SINCE = '2026-01-02T03:04:05Z';

/** A namespace in which these orders are open, and all of them stuck. */
function stuck(workflowIds: string[], changes: Partial<OrderDirectory> = {}): OrderDirectory {
  return {
    ...noOrders,
    open: async () => ({ workflowIds }),
    pendingTask: async () => ({ tries: 100, since: SINCE }),
    ...changes,
  };
}

/** A worker's sweeps, made quietly one by one when they are asked for. */
function sweeps(orders: OrderDirectory, send: EventSender) {
  const world = {
    machine: MACHINE,
    findIntegration: () => undefined,
    cards: createCardStash('memory:'),
    events: { own: new Map(), common: send },
  };
  const sweeper = new Sweeper(world, orders);
  const logger = new DefaultLogger('ERROR');
  return () => perform(() => sweeper.sweep(), undefined, { logger });
}

it('tells of every stuck order, also of one that was started under a foreign id', async () => {
  const told: Pick<OrderEvent, 'id' | 'orderId' | 'integration'>[] = [];
  const events = async ({ id, orderId, integration }: OrderEvent) => {
    told.push({ id, orderId, integration });
  };
  await sweeps(stuck(['order:shop:A:1', 'mine']), events)();
  expect(told).toEqual([
    { id: `sweep:order:shop:A:1:stuck:${SINCE}`, orderId: 'A:1', integration: 'shop' },
    { id: `sweep:mine:stuck:${SINCE}`, orderId: '', integration: '' },
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

it('tells first of what no time was left for, when a receiver hangs', async () => {
  vi.useFakeTimers();
  const ids = Array.from({ length: 30 }, (_, index) => `order:shop:${index}`);
  const asked: string[] = [];
  const sweep = sweeps(stuck(ids), async ({ orderId }) => {
    asked.push(orderId);
    vi.advanceTimersByTime(5_000);
    throw new Error('down');
  });
  for (let made = 0; made < 3; made += 1) await sweep();
  expect(new Set(asked.slice(0, 30)).size).toBe(30);
});

it('tells of the others when the receiver does not take one, and of that one again in the next sweep', async () => {
  const refused = ['B'];
  const { asked, events } = receiver(refused);
  const sweep = sweeps(stuck(IDS), events);
  await sweep();
  expect(asked).toEqual(['A', 'B', 'C']);
  refused.pop();
  await sweep();
  expect(asked.splice(3)).toEqual(['B']);
  await sweep();
  expect(asked).toHaveLength(3);
});

it('tells of what was not taken also when the next sweep looks at another page, which it does with the receiver down', async () => {
  const refused = ['A', 'Z'];
  const { asked, events } = receiver(refused);
  const pages: (string | undefined)[] = [];
  const open = async (_size: number, cursor?: string) => {
    pages.push(cursor);
    return cursor === undefined
      ? { workflowIds: ['order:shop:A'], cursor: 'next' }
      : { workflowIds: ['order:shop:Z'] };
  };
  const sweep = sweeps(stuck([], { open }), events);
  await sweep();
  refused.splice(0);
  await sweep();
  expect(asked).toEqual(['A', 'Z', 'A']);
  await sweep();
  expect(pages).toEqual([undefined, 'next', undefined]);
});

it('gives each incident an id of its own, which another worker that tells of it uses too', async () => {
  let pending: { tries: number; since: string } | undefined = { tries: 5, since: SINCE };
  const told: Pick<OrderEvent, 'id' | 'occurredAt'>[] = [];
  const events = async ({ id, occurredAt }: OrderEvent) => {
    told.push({ id, occurredAt });
  };
  const orders = stuck(['order:shop:A'], { pendingTask: async () => pending });
  const sweep = sweeps(orders, events);
  await sweep();
  await sweeps(orders, events)();
  expect(told[1]).toEqual(told[0]);
  pending = undefined;
  await sweep();
  pending = { tries: 7, since: '2026-01-03T00:00:00Z' };
  await sweep();
  expect(told.splice(2)).toEqual([
    { id: 'sweep:order:shop:A:stuck:2026-01-03T00:00:00Z', occurredAt: '2026-01-03T00:00:00Z' },
  ]);
});

it('begins the round anew after a sweep that failed, and still tells what it knew', async () => {
  const { asked, events } = receiver(['A']);
  let down = false;
  const pages: (string | undefined)[] = [];
  const open = async (_size: number, cursor?: string) => {
    pages.push(cursor);
    if (down) throw new Error('unavailable');
    return { workflowIds: ['order:shop:A'], cursor: 'next' };
  };
  const sweep = sweeps(stuck([], { open }), events);
  await sweep();
  down = true;
  await sweep();
  down = false;
  await sweep();
  expect(pages).toEqual([undefined, 'next', undefined]);
  expect(asked).toEqual(['A', 'A', 'A']);
});

it('leaves to the next sweep what a slow receiver has no time for', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const asked: string[] = [];
  const events = async ({ orderId }: OrderEvent) => {
    asked.push(orderId);
    vi.setSystemTime(Date.now() + 45_000);
  };
  const sweep = sweeps(stuck(IDS), events);
  await sweep();
  expect(asked).toEqual(['A', 'B']);
  await sweep();
  expect(asked).toEqual(['A', 'B', 'C']);
});

describe('the activity', () => {
  const background = (parts: Partial<ActivityWorld>) => {
    const world = { findIntegration: () => undefined, cards: createCardStash('memory:') };
    return createActivities({ ...world, ...parts }).background;
  };

  it('ends when a day is over, so that the workflow continues as new', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const scheduledMs = Date.now();
    const orders = stuck([], {
      countAttention: async () => {
        vi.setSystemTime(scheduledMs + 24 * 3_600_000);
        return 0;
      },
    });
    await perform(() => background({ orders }).sweep(), undefined, { scheduledMs });
  });

  it('leaves the rest to another worker when this one stops', async () => {
    const stopping = new AbortController();
    const orders = stuck([], {
      countAttention: async () => {
        stopping.abort();
        return 0;
      },
    });
    const swept = perform(() => background({ orders, stopping: stopping.signal }).sweep(), undefined, {
      scheduledMs: Date.now(),
    });
    await expect(swept).rejects.toThrow('another one goes on');
  });
});
