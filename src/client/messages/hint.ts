/** Signals orders to read their status: for hints, such as webhooks, and for rechecks. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { cardDataIn } from '../../card-data/card-data.ts';
import { type OrderKey, orderOfWorkflowId, orderWorkflowId } from '../../contract/ids.ts';
import { type ReviewHint, recheckSignal, reviewHintSignal, SCREEN_ORDER } from '../../contract/messages.ts';
import { instant } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { orderAttributes, quoted } from '../../order/view/describe.ts';
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

/** The signals of one process: at most one hint and one recheck per order and spacing. */
export class OrderSignals {
  readonly #context: ClientContext;
  readonly #hints = new SpacedSends<ReviewHint>(together);
  readonly #rechecks = new SpacedSends<undefined>(() => undefined);
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
    const send = (workflowId: string): Promise<boolean> =>
      this.#hints.send(workflowId, hint, (one) => this.#signal(workflowId, reviewHintSignal, [one]));
    const find = (...conditions: string[]): Promise<Found[] | undefined> =>
      this.#lookUps.find(conditions.join(' AND '), () => lookUp(this.#context, conditions));
    const transactionIds = [request.transactionId ?? []].flat();
    const ownerOf = async (id: string): Promise<Found | undefined> => {
      const owners = (await find(equals(orderAttributes.transactionId, id.toLowerCase()))) ?? [];
      const own = owners.find((one) => one.integration === integration);
      return own ?? owners.find((one) => request.reaches?.(one.integration));
    };
    const ofIntegration = equals(orderAttributes.integration, integration);
    const numbered = (number: string): Promise<Found[] | undefined> =>
      find(ofIntegration, equals(orderAttributes.invoiceNumber, number));
    // If visibility fails, fall back to the orders' ids. One failure doesn't affect the other transactions.
    const owning = await Promise.allSettled(transactionIds.map(ownerOf));
    const known = owning.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : []));
    // Skips text that can't be an order id, such as `##`.
    const named = [request.orderId ?? []].flat().flatMap((id) => orderIdSchema.safeParse(id).data ?? []);
    const others = named.filter((number) => !known.some(({ names }) => names.includes(number)));
    const sent = new Map<string, Promise<boolean>>();
    const sendOnce = (workflowId: string): Promise<boolean> => {
      const sending = sent.get(workflowId) ?? send(workflowId);
      sent.set(workflowId, sending);
      return sending;
    };
    const sendByNumber = async (number: string): Promise<boolean> => {
      const [lookup] = await Promise.allSettled([numbered(number)]);
      const owner = lookup.status === 'fulfilled' ? lookup.value?.[0]?.workflowId : undefined;
      for (const id of [owner, orderWorkflowId(integration, number)])
        if (id !== undefined && (await sendOnce(id))) return true;
      if (lookup.status === 'rejected') throw lookup.reason;
      return false;
    };
    const [owned, numberedOnes] = await Promise.all([
      Promise.all(known.map(({ workflowId }) => sendOnce(workflowId))),
      Promise.all(others.map(sendByNumber)),
    ]);
    const isReached = [...owned, ...numberedOnes].includes(true);
    // An order that only its number reached may own a transaction whose lookup failed.
    const failures = owning.filter(({ status }) => status === 'rejected').length;
    const isMissed = failures > numberedOnes.filter((reached) => reached).length;
    if (isReached && !isMissed) return { outcome: 'accepted' };
    if (transactionIds.length === 0) return { outcome: 'unknown' };
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_AFTER_MS));
    const later = await Promise.all(transactionIds.map(ownerOf));
    const found = await Promise.all(later.map((owner) => owner !== undefined && send(owner.workflowId)));
    return { outcome: isReached || found.includes(true) ? 'accepted' : 'unknown' };
  }

  async recheck(key: OrderKey): Promise<{ status: 'requested' }> {
    const workflowId = orderWorkflowId(key.integration, key.orderId);
    const exists = await this.#rechecks.send(workflowId, undefined, () =>
      this.#signal(workflowId, recheckSignal, [{ sentAt: instant(Date.now()) }]),
    );
    if (exists) return { status: 'requested' };
    await readableOrder(this.#context, key);
    throw orderClosed();
  }

  async close(): Promise<{ unsent: number }> {
    const unsent = await Promise.all([this.#hints.close(), this.#rechecks.close()]);
    return { unsent: unsent[0] + unsent[1] };
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

function equals({ name }: { name: string }, value: string): string {
  return `${name} = ${quoted(value)}`;
}

/** More integrations than one account has: each may have an order with the transaction. */
const MOST_OWNERS = 10;

/** Returns the orders that match, open ones before completed ones; undefined without any. */
async function lookUp(
  { client }: ClientContext,
  conditions: readonly string[],
): Promise<Found[] | undefined> {
  const query = [
    `WorkflowType = '${SCREEN_ORDER}'`,
    "ExecutionStatus IN ('Running', 'Completed')",
    ...conditions,
  ].join(' AND ');
  const { executions } = await listWorkflows(client, query, MOST_OWNERS);
  const found = executions.flatMap(({ execution, searchAttributes }): Found[] => {
    const workflowId = execution?.workflowId ?? '';
    const { integration, orderId } = orderOfWorkflowId(workflowId) ?? {};
    if (integration === undefined || orderId === undefined) return [];
    const { invoiceNumber } = attributesIn(searchAttributes?.indexedFields);
    return [{ workflowId, integration, names: [orderId, ...invoiceNumber] }];
  });
  return found.length > 0 ? found : undefined;
}

/** How long a result is cached: visibility is slow and rate-limited, and a transaction never moves to a different order. */
const KEPT_MS = 5_000;
const MOST_KEPT = 10_000;
