/** Signals orders to read their status: for hints, such as webhooks, and for rechecks. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { cardDataIn } from '../../card-data/card-data.ts';
import { type OrderKey, orderOfWorkflowId, orderWorkflowId } from '../../contract/ids.ts';
import { type ReviewHint, recheckSignal, reviewHintSignal, SCREEN_ORDER } from '../../contract/messages.ts';
import { instant } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { equals, orderAttributes } from '../../order/view/search-attributes.ts';
import { LookUps } from '../lists/look-ups.ts';
import { listWorkflows } from '../lists/visibility.ts';
import { integrationOf, orderIdSchema } from '../read-requests.ts';
import { readableOrder, startReadAfterEnd } from '../reading/after-end.ts';
import { attributesIn } from '../reading/decode.ts';
import { orderClosed, toOrderError, within } from '../temporal-errors.ts';
import type { ClientContext, HintAnswer, HintRequest } from '../types.ts';
import { SpacedSends } from './spaced-sends.ts';

const SIGNAL_WITHIN_MS = 5_000;
/** Visibility lags by up to 2 s. */
const ASK_AGAIN_AFTER_MS = 3_000;
/** More integrations than one account has: each may have an order with the transaction. */
const MOST_OWNERS = 10;
/** How long a result is cached: visibility is slow and rate-limited, and a transaction never moves to a different order. */
const KEPT_MS = 5_000;
const MOST_KEPT = 10_000;

/** The signals of one process: at most one hint and one recheck per order and spacing. */
export class OrderSignals {
  readonly #context: ClientContext;
  readonly #hints = new SpacedSends<ReviewHint>(
    (workflowId, hint) => this.#signal(workflowId, reviewHintSignal, [hint]),
    together,
  );
  readonly #rechecks = new SpacedSends<undefined>(
    (workflowId) => this.#signal(workflowId, recheckSignal, [{ sentAt: instant(Date.now()) }]),
    () => undefined,
  );
  /** Orders, by transaction, or by integration and invoice number. */
  readonly #lookUps = new LookUps<Found[] | undefined>(KEPT_MS, MOST_KEPT);

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Sends the hint to the orders that own the transactions. Each invoice number of no such order names one more: the order with that
   * number, else with that id.
   * @see OrderScreening.hint
   */
  async hint(request: HintRequest): Promise<HintAnswer> {
    const integration = integrationOf(this.#context, request.integration).name;
    const hint = hintOf(request);
    const transactionIds = [request.transactionId ?? []].flat();
    // Skips text that can't be an order id, such as `##`.
    const names = [request.orderId ?? []].flat().flatMap((id) => orderIdSchema.safeParse(id).data ?? []);
    const sent = new Map<string, Promise<boolean>>();
    const send = (workflowId: string): Promise<boolean> => {
      const sending = sent.get(workflowId) ?? this.#hints.send(workflowId, hint);
      sent.set(workflowId, sending);
      return sending;
    };
    const ownerOf = async (id: string): Promise<Found | undefined> => {
      const owners = await this.#find(equals(orderAttributes.transactionId, id.toLowerCase()));
      const own = owners.find((one) => one.integration === integration);
      return own ?? owners.find((one) => request.reaches?.(one.integration));
    };
    const ofIntegration = equals(orderAttributes.integration, integration);
    // If visibility fails, falls back to the order's id.
    const sendByNumber = async (number: string): Promise<boolean> => {
      const found = this.#find(ofIntegration, equals(orderAttributes.invoiceNumber, number));
      const [owner] = await found.catch(() => []);
      if (owner !== undefined && (await send(owner.workflowId))) return true;
      return (await send(orderWorkflowId(integration, number))) || found.then(() => false);
    };
    // One failure doesn't affect the other transactions.
    const lookedUp = await Promise.allSettled(transactionIds.map(ownerOf));
    const owners = lookedUp.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : []));
    const others = names.filter((number) => !owners.some((owner) => owner.names.includes(number)));
    const [owned, numbered] = await Promise.all([
      Promise.all(owners.map(({ workflowId }) => send(workflowId))),
      Promise.all(others.map(sendByNumber)),
    ]);
    const isReached = [...owned, ...numbered].includes(true);
    // An order that only its number reached may own a transaction without a known owner.
    const isMissed = transactionIds.length - owners.length > numbered.filter((reached) => reached).length;
    if (isReached && !isMissed) return { outcome: 'accepted' };
    if (transactionIds.length === 0) return { outcome: 'unknown' };
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_AFTER_MS));
    const later = await Promise.all(transactionIds.map(ownerOf));
    const found = await Promise.all(later.map((owner) => owner !== undefined && send(owner.workflowId)));
    return { outcome: isReached || found.includes(true) ? 'accepted' : 'unknown' };
  }

  async recheck(key: OrderKey): Promise<{ status: 'requested' }> {
    const workflowId = orderWorkflowId(key.integration, key.orderId);
    if (await this.#rechecks.send(workflowId, undefined)) return { status: 'requested' };
    await readableOrder(this.#context, key);
    throw orderClosed();
  }

  async close(): Promise<{ unsent: number }> {
    const [hints, rechecks] = await Promise.all([this.#hints.close(), this.#rechecks.close()]);
    return { unsent: hints + rechecks };
  }

  /** Signals an order; for an ended order, starts a workflow that reads the status. @returns whether the order exists and can be read */
  async #signal<Args extends unknown[]>(
    workflowId: string,
    signal: SignalDefinition<Args>,
    args: Args,
  ): Promise<boolean> {
    const { client } = this.#context;
    try {
      await within(client, Date.now() + SIGNAL_WITHIN_MS, () =>
        client.workflow.getHandle(workflowId).signal(signal, ...args),
      );
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw toOrderError(error);
      const key = orderOfWorkflowId(workflowId);
      return key !== undefined && startReadAfterEnd(this.#context, key);
    }
  }

  /** Returns the orders that match, open and completed ones. */
  async #find(...conditions: string[]): Promise<Found[]> {
    const query = [
      `WorkflowType = '${SCREEN_ORDER}'`,
      "ExecutionStatus IN ('Running', 'Completed')",
      ...conditions,
    ].join(' AND ');
    const lookUp = async () => {
      const { executions } = await listWorkflows(this.#context.client, query, MOST_OWNERS);
      const found = executions.flatMap(({ execution, searchAttributes }): Found[] => {
        const workflowId = execution?.workflowId ?? '';
        const key = orderOfWorkflowId(workflowId);
        if (key === undefined) return [];
        const { invoiceNumber } = attributesIn(searchAttributes?.indexedFields);
        return [{ workflowId, integration: key.integration, names: [key.orderId, ...invoiceNumber] }];
      });
      return found.length > 0 ? found : undefined;
    };
    return (await this.#lookUps.find(query, lookUp)) ?? [];
  }
}

function hintOf(request: HintRequest): ReviewHint {
  const [id, ...more] = [request.transactionId ?? []].flat();
  const [transactionId, decision] = [more.length > 0 ? undefined : id, request.decision].map(unlessCardData);
  return defined({ source: request.source, receivedAt: instant(Date.now()), transactionId, decision });
}

/** Drops text with card data: a hint is never refused for the content of a webhook, and never stores it. */
function unlessCardData(text: string | undefined): string | undefined {
  return cardDataIn(text).length === 0 ? text : undefined;
}

/** Merges two hints. Fields that differ are left out, so that the order reads its status in any case: hints are never trusted. */
function together(one: ReviewHint, other: ReviewHint): ReviewHint {
  const { source, receivedAt, transactionId, decision } = other;
  return defined({
    source,
    receivedAt,
    transactionId: transactionId === one.transactionId ? transactionId : undefined,
    decision: decision === one.decision ? decision : undefined,
  });
}

interface Found {
  workflowId: string;
  integration: string;
  /** The order's id and its invoice numbers. */
  names: string[];
}
