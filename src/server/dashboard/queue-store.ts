/**
 * What all open pages share: the queue and the health of the parts, each read from Temporal at most once in 5 s, after a page was made:
 * no page waits for that, unless the queue is older than half a minute or a person has just changed an order.
 */
import { LookUps } from '../../client/lists/look-ups.ts';
import type { Instant } from '../../contract/words.ts';
import { type Health, type ListRequest, type OrderScreening, OrderScreeningError } from '../../starter.ts';
import { type Snapshot, snapshotOf } from './queue/queue-list.ts';

const READ_AGAIN_MS = 5_000;
const STALE_MS = 30_000;

/** Caches reads by key for up to 30 s. The keys are the sets of integrations of API keys and roles, so they are few. */
export function keep<Key, Value>(read: (key: Key) => Promise<Value>) {
  let reads = new LookUps<{ value: Value; askedMs: number }>(READ_AGAIN_MS);
  const known = new Map<string, { value: Value; askedMs: number }>();
  let forgottenMs = Number.NEGATIVE_INFINITY;

  const shown = (key: Key) => {
    const last = known.get(JSON.stringify(key));
    return last && last.askedMs > Math.max(forgottenMs, performance.now() - STALE_MS) ? last : undefined;
  };
  const find = (key: Key) =>
    reads.find(JSON.stringify(key), async () => {
      const found = { askedMs: performance.now(), value: await read(key) };
      known.set(JSON.stringify(key), found);
      return found;
    });

  return {
    /** Returns the cached value, or reads a new one if it is too old or was invalidated. Rejects as the read does. */
    get: async (key: Key) => (shown(key) ?? (await find(key))).value,

    /** Refreshes a cached value that is 5 s old. It stays unchanged if the read fails. */
    renew(key: Key): void {
      if (shown(key) !== undefined) find(key).catch(() => undefined);
    },

    /** Returns the last value, however old; undefined if none was read. */
    last: (key: Key) => known.get(JSON.stringify(key))?.value,

    /** Makes the next call wait for a new read, after an action. */
    forget(): void {
      forgottenMs = performance.now();
      reads = new LookUps(READ_AGAIN_MS);
    },
  };
}

export type Integrations = Pick<ListRequest, 'integration' | 'integrations'>;

export interface Part {
  name: string;
  problem?: string | undefined;
  since?: Instant | undefined;
}

/** The queue, and the parts that the strip at the top of each page shows. `queue` is absent if it was never read. */
export interface Standing {
  queue?: Snapshot | undefined;
  parts: Part[];
}

export function createQueueStore(orders: Pick<OrderScreening, 'queue' | 'health'>) {
  const queues = keep(async (of: Integrations) => {
    const askedMs = Date.now();
    const found = await orders.queue(of);
    return snapshotOf(found.orders, found.cut, askedMs);
  });
  const healths = keep((_: 'all') => orders.health().catch(unlessOurs));

  return {
    /** @throws OrderScreeningError `temporal-unavailable` */
    queue: (of: Integrations) => queues.get(of),

    /** While Temporal can't be reached, returns the queue of the last successful read. */
    async standing(of: Integrations): Promise<Standing> {
      const [read, health] = await Promise.all([queues.get(of).catch(unlessOurs), healths.get('all')]);
      const queue = read ?? queues.last(of);
      return { queue, parts: partsOf(queue, health, read !== undefined) };
    },

    /** Refreshes old values in the background, for later pages. */
    renew(of: Integrations): void {
      queues.renew(of);
      healths.renew('all');
    },

    forget: () => queues.forget(),
  };
}

function partsOf(queue: Snapshot | undefined, health: Health | undefined, isListed: boolean): Part[] {
  if (health === undefined) return [{ name: 'Temporal', problem: 'can’t be reached' }];
  const entries = queue?.entries ?? [];
  const held = entries.filter(({ tabs }) => tabs.includes('held'));
  const silent = entries.filter(({ summary }) =>
    summary.attention?.some(({ code }) => code === 'events-undelivered'),
  );
  const counted = ({ length }: Snapshot['entries'], state: string) =>
    length === 0 ? undefined : `${length} ${length === 1 ? 'order' : 'orders'} ${state}`;
  const [since] = held.map((entry) => entry.since).sort();
  return [
    { name: 'Worker', problem: health.unpolled.length > 0 ? 'not running' : undefined },
    { name: 'Temporal', problem: isListed ? undefined : 'can’t list orders' },
    { name: 'Screening service', problem: counted(held, 'on hold'), since },
    { name: 'Events', problem: counted(silent, 'with undelivered events') },
    { name: 'Sweep', problem: health.sweep.status === 'running' ? undefined : health.sweep.status },
  ];
}

/** Ignores an `OrderScreeningError`. @throws any other error */
export function unlessOurs(error: unknown): undefined {
  if (!(error instanceof OrderScreeningError)) throw error;
}
