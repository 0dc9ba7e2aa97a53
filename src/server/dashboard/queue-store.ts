/**
 * What all open pages share: the queue and the health of the parts, each read from Temporal at most once in 5 s, after a page was made:
 * no page waits for that, unless the queue is older than half a minute or somebody has just changed an order.
 */
import { LookUps } from '../../client/lists/look-ups.ts';
import type { Instant } from '../../contract/words.ts';
import { type Health, type ListRequest, type OrderScreening, OrderScreeningError } from '../../starter.ts';
import { type Snapshot, snapshotOf } from './queue/queue-list.ts';

const READ_AGAIN_MS = 5_000;
const STALE_MS = 30_000;
/** By key; the oldest are dropped. */
const MOST = 10;

/** Values by key, each shown until it is 30 s old. */
export class Kept<Value> {
  #reads = new LookUps<Value>(READ_AGAIN_MS, MOST);
  /** `atMs`: when it was asked for. */
  readonly #last = new Map<string, { value: Value; atMs: number }>();
  #forgottenAtMs = 0;

  /** Returns what was read last, or reads if that is too old or forgotten. Rejects as the read does. */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    const shown = this.#shown(key);
    return shown === undefined ? this.#find(key, read) : shown.value;
  }

  /** Reads what is shown again if it is 5 s old, and stays as it is when that fails. */
  renew(key: string, read: () => Promise<Value>): void {
    if (this.#shown(key) !== undefined) this.#find(key, read).catch(() => undefined);
  }

  /** Returns what was read last, however old; undefined if it was never read. */
  last(key: string): Value | undefined {
    return this.#last.get(key)?.value;
  }

  /** Makes the next call wait for a new read, after an action. */
  forget(): void {
    this.#forgottenAtMs = Date.now();
    this.#reads = new LookUps(READ_AGAIN_MS, MOST);
  }

  #shown(key: string) {
    const last = this.#last.get(key);
    return last && last.atMs > Math.max(this.#forgottenAtMs, Date.now() - STALE_MS) ? last : undefined;
  }

  #find(key: string, read: () => Promise<Value>): Promise<Value> {
    return this.#reads.find(key, () => this.#read(key, read));
  }

  async #read(key: string, read: () => Promise<Value>): Promise<Value> {
    const atMs = Date.now();
    const value = await read();
    this.#last.delete(key);
    this.#last.set(key, { value, atMs });
    const [oldest = ''] = this.#last.keys();
    if (this.#last.size > MOST) this.#last.delete(oldest);
    return value;
  }
}

export type Integrations = Pick<ListRequest, 'integration' | 'integrations'>;

/** A part of the deployment, and what is wrong with it. */
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
  const queues = new Kept<Snapshot>();
  const healths = new Kept<Health | undefined>();

  const readQueue = async (of: Integrations) => {
    const askedMs = Date.now();
    const found = await orders.queue(of);
    return snapshotOf(found.orders, found.cut, askedMs);
  };
  const readHealth = () => orders.health().catch(unlessOurs);

  /** @throws OrderScreeningError `temporal-unavailable` */
  const queue = (of: Integrations) => queues.get(JSON.stringify(of), () => readQueue(of));

  /** Reads again what is old, for the pages to come. */
  const renew = (of: Integrations) => {
    queues.renew(JSON.stringify(of), () => readQueue(of));
    healths.renew('', readHealth);
  };

  /** Returns what is known, also while Temporal can't be reached: then the queue is the last one that was read. */
  async function standing(of: Integrations): Promise<Standing> {
    const [read, health] = await Promise.all([queue(of).catch(unlessOurs), healths.get('', readHealth)]);
    return { queue: read ?? queues.last(JSON.stringify(of)), parts: partsOf(read, health) };
  }

  return { queue, standing, renew, forget: () => queues.forget() };
}

function partsOf(queue: Snapshot | undefined, health: Health | undefined): Part[] {
  if (health === undefined) return [{ name: 'Temporal', problem: 'can’t be reached' }];
  const entries = queue?.entries ?? [];
  const held = entries.filter(({ tabs }) => tabs.includes('held'));
  const silent = entries.filter(({ summary }) =>
    summary.attention?.some(({ code }) => code === 'events-undelivered'),
  );
  const counted = ({ length }: Snapshot['entries'], state: string) =>
    length === 0 ? undefined : `${length} ${length === 1 ? 'order' : 'orders'} ${state}`;
  const [since] = held.map((entry) => entry.since).sort();
  const { status } = health.sweep;
  return [
    { name: 'Worker', problem: health.unpolled.length > 0 ? 'not running' : undefined },
    { name: 'Temporal' },
    { name: 'Screening service', problem: counted(held, 'on hold'), since },
    { name: 'Events', problem: counted(silent, 'with undelivered events') },
    { name: 'Sweep', problem: status === 'running' ? undefined : status },
  ];
}

/** Ignores an `OrderScreeningError`. @throws any other error */
export function unlessOurs(error: unknown): undefined {
  if (!(error instanceof OrderScreeningError)) throw error;
}
