/** Passes on that there is news about an order, the webhook receiver's way in, a few at a time. */
import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { cardDataIn } from '../orders/card-data.ts';
import { orderAttributes } from '../orders/describe.ts';
import { OrderScreeningError } from '../orders/errors.ts';
import { orderWorkflowId } from '../orders/ids.ts';
import { hintUpdate, type ReviewHint, reviewHintSignal, SCREEN_ORDER } from '../orders/messages.ts';
import { instant } from '../orders/words.ts';
import { quoted } from './list-orders.ts';
import { sendUpdate } from './order-messages.ts';
import { integrationOf, orderIdSchema } from './read-requests.ts';
import { asOrderError, isEnded, isUnanswered, toOrderError, within } from './temporal-errors.ts';
import type { ClientContext, HintAnswer, HintRequest } from './types.ts';

/** No worker within this: the hint is left as a signal. */
const WORKER_WITHIN_MS = 2_000;
const SIGNAL_WITHIN_MS = 5_000;
/** Visibility lags by 2 s at worst. */
const ASK_AGAIN_AFTER_MS = 3_000;
/** 10,100 signals end an order's history: where nobody can be asked, one an order and minute is harmless. */
const SIGNAL_EVERY_MS = 60_000;

/** When each order was last sent a signal. */
type SignalTimes = Map<string, number>;

/** What a process remembers of the hints that it passed on. */
export interface HintsSent {
  queues: HintQueues;
  /** The workflow ids of orders, by integration and transaction or invoice number. */
  lookUps: LookUps<string>;
  signalTimes: SignalTimes;
}

/** The order that owns the transaction gets it, else the one with that invoice number, else with that id. @see OrderScreening.hint */
export async function sendHint(
  context: ClientContext,
  { queues, lookUps, signalTimes }: HintsSent,
  request: HintRequest,
): Promise<HintAnswer> {
  const integration = integrationOf(context, request.integration).name;
  const [transactionId, decision] = [request.transactionId, request.decision].map(unlessCardData);
  const hint: ReviewHint = {
    source: request.source,
    receivedAt: instant(Date.now()),
    ...(transactionId !== undefined && { transactionId }),
    ...(decision !== undefined && { decision }),
  };
  const pass = (workflowId: string) =>
    queues.send(workflowId, hint, (one) => deliver(context, signalTimes, workflowId, one));
  const owner = (): Promise<string | undefined> =>
    transactionId === undefined
      ? Promise.resolve(undefined)
      : lookUps.find(`${integration}:transaction:${transactionId.toLowerCase()}`, () =>
          lookUp(context, integration, orderAttributes.transactionId, transactionId.toLowerCase()),
        );
  // An order can be told by its id although the list of orders can't be asked.
  const owned = await owner().catch(() => undefined);
  if (owned !== undefined && (await pass(owned))) return { outcome: 'accepted' };
  // What can't be an order's id, such as `##`, is left out: the transaction may tell.
  const named = orderIdSchema.safeParse(request.orderId);
  if (named.success) {
    const invoiced = await lookUps
      .find(`${integration}:invoice:${named.data}`, () =>
        lookUp(context, integration, orderAttributes.invoiceNumber, named.data),
      )
      .catch(() => undefined);
    if (invoiced !== undefined && (await pass(invoiced))) return { outcome: 'accepted' };
    const workflowId = orderWorkflowId(integration, named.data);
    if (workflowId !== invoiced && (await pass(workflowId))) return { outcome: 'accepted' };
  }
  if (transactionId === undefined) return { outcome: 'unknown' };
  await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_AFTER_MS));
  const found = await owner();
  return { outcome: found !== undefined && (await pass(found)) ? 'accepted' : 'unknown' };
}

/** A hint is never refused for what somebody wrote into a webhook, and keeps nothing of it. */
function unlessCardData(text: string | undefined): string | undefined {
  return cardDataIn(text).length === 0 ? text : undefined;
}

/** @returns whether there is such an open order */
async function deliver(
  context: ClientContext,
  signalTimes: SignalTimes,
  workflowId: string,
  hint: ReviewHint,
): Promise<boolean> {
  const { client } = context;
  try {
    await within(client, Date.now() + WORKER_WITHIN_MS, () =>
      sendUpdate(undefined, () =>
        client.workflow.getHandle(workflowId).executeUpdate(hintUpdate, { args: [hint] }),
      ),
    );
    // A worker of an earlier build has taken it.
    return true;
  } catch (error) {
    if (isEnded(error)) return false;
    const known = toOrderError(error);
    const code = known instanceof OrderScreeningError ? known.code : undefined;
    if (code === 'hint-wanted') return signal(client, workflowId, hint);
    // A signal needs none of the places that the updates in flight have taken.
    if (code === 'busy' || isUnanswered(error)) return signalSeldom(client, signalTimes, workflowId, hint);
    // Refused as one too many: the order reads its status, or has, or needn't.
    if (error instanceof WorkflowUpdateFailedError) return true;
    throw known;
  }
}

/**
 * Signals an order that could not be asked whether it needs the hint.
 * @returns whether there is such an open order
 * @throws OrderScreeningError `busy`: it was signalled within the last minute, and this hint was not sent
 */
async function signalSeldom(
  client: Client,
  signalTimes: SignalTimes,
  workflowId: string,
  hint: ReviewHint,
): Promise<boolean> {
  const now = Date.now();
  for (const [id, at] of signalTimes) if (now - at >= SIGNAL_EVERY_MS) signalTimes.delete(id);
  if (signalTimes.has(workflowId)) throw new OrderScreeningError('busy', SIGNALLED_BEFORE);
  const taken = await signal(client, workflowId, hint);
  if (taken) signalTimes.set(workflowId, now);
  return taken;
}

const SIGNALLED_BEFORE =
  'No worker answers for this order, and it was signalled within the last minute. This hint was not sent: send it again.';

/** @returns whether there is such an open order */
async function signal(client: Client, workflowId: string, hint: ReviewHint): Promise<boolean> {
  try {
    await within(client, Date.now() + SIGNAL_WITHIN_MS, () =>
      client.workflow.getHandle(workflowId).signal(reviewHintSignal, hint),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw toOrderError(error);
  }
}

/** @returns the workflow id of the newest open order with that value */
async function lookUp(
  { client }: ClientContext,
  integration: string,
  { name }: { name: string },
  value: string,
): Promise<string | undefined> {
  const query = [
    `WorkflowType = '${SCREEN_ORDER}'`,
    "ExecutionStatus = 'Running'",
    `${orderAttributes.integration.name} = ${quoted(integration)}`,
    `${name} = ${quoted(value)}`,
  ].join(' AND ');
  const page = await asOrderError(() =>
    within(client, Date.now() + SIGNAL_WITHIN_MS, () =>
      client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        query,
        pageSize: 1,
      }),
    ),
  );
  return page.executions[0]?.execution?.workflowId ?? undefined;
}

/** Delivers a hint to an order; whether there is such an open order. */
type Deliver = (hint: ReviewHint) => Promise<boolean>;

interface Waiting {
  hint: ReviewHint;
  delivered: Promise<boolean>;
}

/**
 * One hint an order on its way at a time, and one that waits: those that come meanwhile go together, after it. Temporal takes
 * ten updates of a workflow at once and has the others come back after a second or more.
 */
export class HintQueues {
  readonly #underWay = new Map<string, Promise<boolean>>();
  readonly #waiting = new Map<string, Waiting>();

  /** @returns what `deliver` says of the hint, or of several that went together */
  send(workflowId: string, hint: ReviewHint, deliver: Deliver): Promise<boolean> {
    const underWay = this.#underWay.get(workflowId);
    if (underWay === undefined) return this.#start(workflowId, hint, deliver);
    const waiting = this.#waiting.get(workflowId);
    if (waiting !== undefined) {
      waiting.hint = together(waiting.hint, hint);
      return waiting.delivered;
    }
    const next: Waiting = {
      hint,
      delivered: underWay
        .catch(() => undefined)
        .then(() => {
          this.#waiting.delete(workflowId);
          return this.#start(workflowId, next.hint, deliver);
        }),
    };
    this.#waiting.set(workflowId, next);
    return next.delivered;
  }

  #start(workflowId: string, hint: ReviewHint, deliver: Deliver): Promise<boolean> {
    const delivered = deliver(hint).finally(() => this.#underWay.delete(workflowId));
    this.#underWay.set(workflowId, delivered);
    return delivered;
  }
}

/** Nothing in a hint is believed: where two differ, the one for both leaves it out, and so concerns the order in any case. */
function together(one: ReviewHint, other: ReviewHint): ReviewHint {
  const { source, receivedAt, transactionId, decision } = other;
  return {
    source,
    receivedAt,
    ...(transactionId !== undefined && transactionId === one.transactionId && { transactionId }),
    ...(decision !== undefined && decision === one.decision && { decision }),
  };
}

/** An order's transaction doesn't move: a flood of webhooks about one asks visibility, which is slow and limited, once in a while. */
const KEPT_MS = 5_000;

/** Look-ups of what is kept for a short time once it is found. Those that come meanwhile share one. */
export class LookUps<Found> {
  readonly #known = new Map<string, Promise<Found | undefined>>();

  /** @returns what `ask` found under the key, now or a moment ago; what wasn't found is asked for again */
  find(key: string, ask: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const asked = ask();
    this.#known.set(key, asked);
    const forget = (): void => void this.#known.delete(key);
    asked.then((found) => {
      if (found === undefined) forget();
      else setTimeout(forget, KEPT_MS).unref();
    }, forget);
    return asked;
  }
}
