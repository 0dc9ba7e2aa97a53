/** Finds open orders by any part of their ids: visibility matches whole values and prefixes only. */
import { orderOfWorkflowId } from '../../contract/ids.ts';
import { type Instant, instant } from '../../contract/words.ts';
import { openQuery, quoted } from '../../order/view/search-attributes.ts';
import type { ClientContext } from '../types.ts';
import type { ListRequest } from './list-request.ts';
import { LookUps } from './look-ups.ts';
import { pagesOf } from './visibility.ts';

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

/** The ids of open orders, as this process knows them. An id stays after its order's end. */
export class OpenOrders {
  readonly #context: ClientContext;
  /** Workflow ids, oldest first. */
  #known = new Set<string>();
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

  /** Returns the workflow ids of orders whose id contains the words, the 50 newest. Some of them may have ended. */
  async find(
    words: string,
    { integration, integrations }: Pick<ListRequest, 'integration' | 'integrations'>,
  ): Promise<string[]> {
    if (words.length < SHORTEST) return [];
    await this.#refresh();
    const part = words.toLowerCase();
    const allowed = integration === undefined ? integrations : [integration];
    const found = [...this.#known].filter((workflowId) => {
      if (!workflowId.toLowerCase().includes(part)) return false;
      const key = orderOfWorkflowId(workflowId);
      return key?.orderId.toLowerCase().includes(part) && (allowed?.includes(key.integration) ?? true);
    });
    return found.slice(-MOST_FOUND);
  }

  async #read(): Promise<true> {
    const began = instant(Date.now() - LAG_MS);
    const since = this.#since === undefined ? '' : ` AND StartTime >= ${quoted(this.#since)}`;
    const found: string[] = [];
    for await (const executions of pagesOf(this.#context.client, `${OPEN}${since}`, PAGE)) {
      found.push(...executions.flatMap(({ execution }) => execution?.workflowId ?? []));
      if (found.length >= MOST_KEPT) break;
    }
    this.#known = new Set([...this.#known, ...found.reverse()].slice(-MOST_KEPT));
    this.#since = began;
    return true;
  }
}
