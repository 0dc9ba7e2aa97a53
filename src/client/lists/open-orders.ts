/** Finds open orders by any part of their ids: visibility matches whole values and prefixes only. */
import { type OrderKey, orderOfWorkflowId, orderWorkflowId } from '../../contract/ids.ts';
import { type Instant, instant } from '../../contract/words.ts';
import { openQuery, quoted } from '../../order/view/describe.ts';
import type { ClientContext, QueuedOrder } from '../types.ts';
import { rowsOf } from './list-queue.ts';
import type { ListRequest } from './list-request.ts';
import { LookUps } from './look-ups.ts';
import { listWorkflows } from './visibility.ts';

/** The newest orders are kept, and few enough that a page of them blocks nobody. */
const MOST_KEPT = 50_000;
const PAGE = 200;
const KEPT_MS = 5_000;
/** Visibility lags, and clocks differ. */
const LAG_MS = 15_000;
const MOST_FOUND = 50;
/** A shorter part would match most orders. */
const SHORTEST = 3;
const OPEN = openQuery();

/** The ids of open orders, as this process knows them. An id stays after its order's end: what is found is read again. */
export class OpenOrders {
  readonly #context: ClientContext;
  /** By workflow id, oldest first. */
  readonly #known = new Map<string, OrderKey>();
  readonly #reads = new LookUps<true>(KEPT_MS, 1);
  #since: Instant | undefined;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /** Reads all ids if none were read before, which takes seconds for ten thousands: a search may follow. */
  warm(): void {
    if (this.#since === undefined) this.#refresh().catch(() => undefined);
  }

  /** Reads the ids of orders that are new since the last read. */
  #refresh(): Promise<true> {
    return this.#reads.find('', () => this.#read());
  }

  /**
   * Returns the orders whose id contains the words, newest first, at most 50.
   * @param except those that are found already
   */
  async find(
    words: string,
    { integration, integrations }: Pick<ListRequest, 'integration' | 'integrations'>,
    except: readonly QueuedOrder[],
  ): Promise<QueuedOrder[]> {
    if (words.length < SHORTEST) return [];
    await this.#refresh();
    const wanted = words.toLowerCase();
    const allowed = integration === undefined ? integrations : [integration];
    const shown = except.map(({ summary }) => orderWorkflowId(summary.integration, summary.orderId));
    const found = [...this.#known].filter(
      ([workflowId, { orderId, integration }]) =>
        orderId.toLowerCase().includes(wanted) &&
        (allowed?.includes(integration) ?? true) &&
        !shown.includes(workflowId),
    );
    const ids = found.slice(-MOST_FOUND).map(([workflowId]) => quoted(workflowId));
    if (ids.length === 0) return [];
    const query = `${OPEN} AND WorkflowId IN (${ids.join(', ')})`;
    return (await rowsOf(this.#context, query, MOST_FOUND)).orders;
  }

  async #read(): Promise<true> {
    const began = instant(Date.now() - LAG_MS);
    const since = this.#since === undefined ? '' : ` AND StartTime >= ${quoted(this.#since)}`;
    const found: [string, OrderKey][] = [];
    let place: Uint8Array | undefined;
    do {
      const page = await listWorkflows(this.#context.client, `${OPEN}${since}`, PAGE, place);
      for (const { execution } of page.executions) {
        const workflowId = execution?.workflowId ?? '';
        const order = orderOfWorkflowId(workflowId);
        if (order !== undefined) found.push([workflowId, order]);
      }
      place = page.place;
    } while (place !== undefined && found.length < MOST_KEPT);
    for (const [workflowId, order] of found.reverse()) {
      this.#known.delete(workflowId);
      this.#known.set(workflowId, order);
    }
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_KEPT) break;
      this.#known.delete(oldest);
    }
    this.#since = began;
    return true;
  }
}
