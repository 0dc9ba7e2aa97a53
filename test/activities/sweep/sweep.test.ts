import timers from 'node:timers/promises';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createActivities } from '../../../src/activities/index.ts';
import type { OrderDirectory } from '../../../src/activities/sweep/order-directory.ts';
import { sweeper } from '../../../src/activities/sweep/sweep.ts';
import { createCardStash } from '../../../src/card-stash/index.ts';
import type { OrderEvent } from '../../../src/contract/messages.ts';
import { HELD_REASONS, type Held, LOST_STATUSES } from '../../../src/contract/sweep.ts';
import { MACHINE } from '../../../src/screening-service/index.ts';
import { anIntegration } from '../../fixtures/integrations.ts';
import { noOrders, perform } from '../support.ts';

afterEach(() => void vi.restoreAllMocks());

const SINCE = '2026-01-02T03:04:05Z';
const NEXT = Uint8Array.of(1);

/** A namespace in which these orders are open, and all of them stuck. */
function stuck(workflowIds: string[], changes: Partial<OrderDirectory> = {}): OrderDirectory {
  return {
    ...noOrders,
    open: async () => ({ workflowIds }),
    pendingTask: async () => ({ tries: 100, since: SINCE }),
    ...changes,
  };
}

/** A worker's sweeps, made quietly one by one when they are asked for; with the events that they announce and the numbers that they show. */
function sweeps(orders: OrderDirectory, { wanted = true, refused = '' } = {}) {
  const announced: OrderEvent[] = [];
  const announce = async (event: OrderEvent) => {
    if (refused !== '' && event.id.startsWith(refused)) throw new Error('refused');
    announced.push(event);
  };
  const world = {
    machine: MACHINE,
    findIntegration: (name: string) => (name === 'gone' ? undefined : anIntegration()),
    cards: createCardStash('memory:'),
    otherModes: new Set<string>(),
    ...(wanted && { events: { own: new Map(), common: async () => undefined } }),
  };
  const sweepOnce = sweeper(world, { ...orders, announce });
  const logger = new DefaultLogger('ERROR');
  const shown: Record<string, number> = {};
  const metricMeter = gaugesIn(shown);
  return {
    announced,
    shown,
    sweep: () => perform(sweepOnce, undefined, { logger, metricMeter }),
  };
}

/** A meter that keeps each gauge's last number, by the gauge's name and its reason or status. */
function gaugesIn(shown: Record<string, number>): MetricMeter {
  const createGauge: MetricMeter['createGauge'] = (...named) => {
    const gauge = noopMetricMeter.createGauge(...named);
    const set: typeof gauge.set = (value, labels = {}) => {
      shown[`${named[0]} ${labels.reason ?? labels.status}`] = value;
    };
    return { ...gauge, set };
  };
  return Object.assign(Object.create(noopMetricMeter), { createGauge });
}

it('tells of every stuck order, also of one that was started under a foreign id', async () => {
  const { announced, sweep } = sweeps(stuck(['order:shop:A:1', 'mine']));
  await sweep();
  expect(announced).toMatchObject([
    { id: `sweep:order:shop:A:1:stuck:${SINCE}`, orderId: 'A:1', integration: 'shop', occurredAt: SINCE },
    { id: `sweep:mine:stuck:${SINCE}`, orderId: '', integration: '' },
  ]);
});

it('tells of the others when an event cannot be announced, and nothing where nobody wants events', async () => {
  const orders = stuck(['mine', 'order:shop:A']);
  const one = sweeps(orders, { refused: 'sweep:mine' });
  await one.sweep();
  expect(one.announced.map(({ orderId }) => orderId)).toEqual(['A']);
  for (const unwanted of [sweeps(orders, { wanted: false }), sweeps(stuck(['order:gone:A']))]) {
    await unwanted.sweep();
    expect(unwanted.announced).toEqual([]);
  }
});

it('looks at page after page, and begins anew after a sweep that failed', async () => {
  let down = false;
  const pages: (Uint8Array | undefined)[] = [];
  const open = async (_size: number, from?: Uint8Array) => {
    pages.push(from);
    if (down) throw new Error('unavailable');
    return from === undefined
      ? { workflowIds: ['order:shop:A'], next: NEXT }
      : { workflowIds: ['order:shop:Z'] };
  };
  const { announced, sweep } = sweeps(stuck([], { open }));
  await sweep();
  await sweep();
  // What was stuck before is looked at again.
  expect(announced.map(({ orderId }) => orderId)).toEqual(['A', 'Z', 'A']);
  await sweep();
  down = true;
  await expect(sweep()).rejects.toThrow('unavailable');
  down = false;
  await sweep();
  expect(pages).toEqual([undefined, NEXT, undefined, NEXT, undefined]);
});

it('looks at the same page again when only another question fails, so that the last pages are reached', async () => {
  const pages: (Uint8Array | undefined)[] = [];
  const open = async (_size: number, from?: Uint8Array) => {
    pages.push(from);
    return { workflowIds: [], next: NEXT };
  };
  const overdue = vi
    .fn(async () => [])
    .mockResolvedValueOnce([])
    .mockRejectedValueOnce(new Error('busy'));
  const { sweep } = sweeps(stuck([], { open, overdue }));
  await sweep();
  await expect(sweep()).rejects.toThrow('busy');
  await sweep();
  expect(pages).toEqual([undefined, NEXT, NEXT]);
});

it('still counts what it found where the server does not answer about the order', async () => {
  let down = false;
  const pendingTask = async (workflowId: string) => {
    if (down) throw new Error('unavailable');
    const held = { reason: 'paused' as const, since: SINCE };
    return workflowId.endsWith('paused') ? { tries: 0, since: SINCE, held } : { tries: 5, since: SINCE };
  };
  const { shown, sweep } = sweeps(stuck(['order:shop:A', 'order:shop:paused'], { pendingTask }));
  await sweep();
  down = true;
  await sweep();
  expect(shown['order_screening_stuck_orders undefined']).toBe(1);
  expect(shown['order_screening_held_orders paused']).toBe(1);
});

it('gives each incident an id of its own', async () => {
  let pending: { tries: number; since: string } | undefined = { tries: 5, since: SINCE };
  const { announced, sweep } = sweeps(stuck(['order:shop:A'], { pendingTask: async () => pending }));
  await sweep();
  pending = undefined;
  await sweep();
  pending = { tries: 7, since: '2026-01-03T00:00:00Z' };
  await sweep();
  expect(announced.map(({ id }) => id)).toEqual([
    `sweep:order:shop:A:stuck:${SINCE}`,
    'sweep:order:shop:A:stuck:2026-01-03T00:00:00Z',
  ]);
});

it('counts held orders by reason, and reports those that an operator holds: many may be late at once, for one cause', async () => {
  const reasons = { paused: 1, pinned: 2, late: 3, unanswered: 4 };
  const held = Object.entries(reasons).flatMap(([reason, count]) =>
    Array.from({ length: count }, (_one, index) => `order:shop:${reason}-${index}`),
  );
  const pendingTask: OrderDirectory['pendingTask'] = async (workflowId) => {
    const reason = HELD_REASONS.find((one) => workflowId.includes(one));
    return { tries: 0, since: SINCE, ...(reason && { held: { reason, since: SINCE } }) };
  };
  const { announced, shown, sweep } = sweeps(stuck(held, { pendingTask }));
  await sweep();
  for (const [reason, count] of Object.entries(reasons))
    expect(shown[`order_screening_held_orders ${reason}`]).toBe(count);
  expect(announced.map(({ orderId }) => orderId)).toEqual(['paused-0', 'pinned-0', 'pinned-1']);
  const words = announced.map(({ data }) => data.attention.join());
  expect(words).toEqual([expect.stringMatching(/paused/), ...Array(2).fill(expect.stringMatching(/pinned/))]);
});

it('counts and reports orders that ended without a record by the status of their workflow', async () => {
  const statuses = { Terminated: 0, TimedOut: 1, Failed: 2, Canceled: 3 };
  const lost = LOST_STATUSES.flatMap((status) =>
    Array.from({ length: statuses[status] }, (_one, index) => ({
      workflowId: `order:shop:${status}-${index}`,
      runId: 'run',
      since: SINCE,
      status,
    })),
  );
  const { announced, shown, sweep } = sweeps({ ...noOrders, lost: async () => lost });
  await sweep();
  for (const status of LOST_STATUSES)
    expect(shown[`order_screening_lost_orders ${status}`]).toBe(statuses[status]);
  expect(announced.map(({ data }) => data.attention.join())).toEqual(
    lost.map(({ status }) => expect.stringContaining(`ended too early (${status})`)),
  );
});

it('looks again at no more than a thousand of the orders that were stuck or held before, at late ones last', async () => {
  const many = Array.from({ length: 1_500 }, (_one, index) => `order:shop:${index}`);
  let pages = 0;
  const open = async () => ({ workflowIds: pages++ === 0 ? [...many, 'order:shop:paused'] : [] });
  const pendingTask = vi.fn(async (workflowId: string) => {
    const reason: Held['reason'] = workflowId.endsWith('paused') ? 'paused' : 'late';
    return { tries: 0, since: SINCE, held: { reason, since: SINCE } };
  });
  const { sweep } = sweeps(stuck([], { open, pendingTask }));
  await sweep();
  pendingTask.mockClear();
  await sweep();
  expect(pendingTask).toHaveBeenCalledTimes(1_000);
  expect(pendingTask).toHaveBeenCalledWith('order:shop:paused');
});

describe('the activity', () => {
  const errors: unknown[] = [];
  /** @param during what happens in each sweep @returns a function that sweeps until the activity ends */
  const sweeping = (during: () => unknown, stopping?: AbortSignal, changes?: Partial<OrderDirectory>) => {
    const countAttention = async () => {
      during();
      return 0;
    };
    const orders = stuck([], { countAttention, ...changes });
    // The pause between two sweeps passes at once.
    let elapsed = 0;
    vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms = 0) => {
      elapsed += ms;
    });
    const machine = { ...MACHINE, elapsed: () => elapsed };
    const world = { findIntegration: () => undefined, cards: createCardStash('memory:'), orders, machine };
    const { background } = createActivities({ ...world, ...(stopping && { stopping }) });
    const logger = new DefaultLogger('WARN', ({ meta }) => errors.push(meta?.error));
    return () => perform(() => background.sweep(), undefined, { logger });
  };

  it('leaves the rest to another worker when this one stops', async () => {
    const stopping = new AbortController();
    const sweep = sweeping(() => stopping.abort(), stopping.signal);
    await expect(sweep()).rejects.toThrow('another worker continues');
  });

  it.each([
    ['the first sweep fails', 0, 1],
    ['no sweep succeeds for three minutes', 1, 4],
  ])('fails when %s, so that Temporal shows it', async (_when, good, made) => {
    let sweeps = 0;
    const sweep = sweeping(() => {
      sweeps += 1;
      if (sweeps > good) throw new Error('busy');
    });
    await expect(sweep()).rejects.toMatchObject({ type: 'sweep-failed', nextRetryDelay: 60_000 });
    expect(sweeps).toBe(made);
    expect(errors).toContainEqual(new Error('busy'));
  });

  it('looks again at what its run before found beyond the first page', async () => {
    let sweeps = 0;
    const fail = () => {
      sweeps += 1;
      if (sweeps > 2) throw new Error('busy');
    };
    const open: OrderDirectory['open'] = async (_size, from) =>
      from === undefined ? { workflowIds: [], next: NEXT } : { workflowIds: ['late'] };
    const pendingTask = vi.fn(async () => ({ tries: 100, since: SINCE }));
    const sweep = sweeping(fail, undefined, { open, pendingTask });
    await expect(sweep()).rejects.toMatchObject({ type: 'sweep-failed' });
    pendingTask.mockClear();
    await expect(sweep()).rejects.toMatchObject({ type: 'sweep-failed' });
    expect(pendingTask).toHaveBeenCalledExactlyOnceWith('late');
  });
});
