/** Portal actions: an update on an open order, a workflow of its own for a closed one. */
import { createHash } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { vouchedFor } from '../../card-data/card-data.ts';
import type { HandlingAnswer, PortalAnswer } from '../../contract/answers.ts';
import {
  hasCode,
  ORDER_ERRORS,
  type OrderErrorCode,
  type OrderErrorDetails,
  OrderScreeningError,
} from '../../contract/errors.ts';
import {
  type OrderKey,
  orderWorkflowId,
  portalActionWorkflowId,
  sameTransaction,
  TASK_QUEUE,
} from '../../contract/ids.ts';
import {
  type Envelope,
  PORTAL_ACTION,
  type PortalActionInput,
  type PortalFields,
  UPDATES,
  type WithdrawRequest,
  withdrawUpdate,
} from '../../contract/messages.ts';
import type { Handling } from '../../contract/order/requests.ts';
import type { ActionRecord, OrderState } from '../../contract/order/state.ts';
import { portalOwnSchema } from '../../contract/portal/portal-actions.ts';
import {
  isSentOnce,
  PORTAL_KINDS,
  type PortalActionKind,
  portalKind,
} from '../../contract/portal/portal-kinds.ts';
import { defined } from '../../order/defined.ts';
import { attemptFor, portalAnswer, portalRefusal, windowMeant } from '../../order/portal/portal-records.ts';
import { earlier, identityOf, subjectOf, transactionMeant } from '../../order/portal/portal-requests.ts';
import { isUnderWay } from '../../order/transactions.ts';
import { OUR_WORDS, parsePortalFields } from '../../screening-service/index.ts';
import { refuseTaken } from '../lists/visibility.ts';
import { fieldErrorsOf, integrationOf, invalidRequest } from '../read-requests.ts';
import { lateDecisions } from '../reading/after-end.ts';
import { readOrder } from '../reading/read-orders.ts';
import {
  ANSWER_WITHIN_MS,
  callTemporal,
  isEnded,
  isUnanswered,
  orderClosed,
  toOrderError,
  unreadRequest,
  within,
  workerSilent,
} from '../temporal-errors.ts';
import type { ClientContext, HandlingMethods, OrderName, OrderScreening, PortalOptions } from '../types.ts';
import { readBy } from './portal-options.ts';
import { startedUpdate, updateOf, whileOpen } from './send-update.ts';

/** Returns the client library's method for a kind of action, which checks the fields of that kind. */
export function portalMethod(orders: OrderScreening, kind: PortalActionKind) {
  return orders[PORTAL_KINDS[kind].method] as (
    order: OrderName,
    request: object,
    how: PortalOptions,
  ) => Promise<PortalAnswer>;
}

/** Returns the client library's method for what people write on an order. The caller has checked the request. */
export function handlingMethod(orders: HandlingMethods, kind: Handling) {
  return orders[kind] as (order: OrderName, request: object, how: PortalOptions) => Promise<HandlingAnswer>;
}

/** Runs a portal action. @returns the screening service's reply, or `requested` after 10 s if the action is still running */
export async function portalAction(
  context: ClientContext,
  order: OrderKey,
  fields: PortalFields,
  how: PortalOptions = {},
): Promise<PortalAnswer> {
  const { kind, ...request } = fields;
  // `kind` selects the definition, so the fields match it.
  const definition = UPDATES[kind] as UpdateDefinition<PortalAnswer, [Envelope<typeof request>]>;
  const update = updateOf(definition, request, how);
  const workflowId = orderWorkflowId(order.integration, order.orderId);
  try {
    const answer = await startedUpdate(context, workflowId, definition, update);
    return answer ?? { ...order, kind, status: 'requested' };
  } catch (error) {
    const known = toOrderError(error);
    // An order that has ended and only delivers its last events no longer accepts actions.
    if (!isEnded(error) && !hasCode(known, 'order-closed')) throw known;
  }
  return afterTheEnd(context, { ...order, fields, ...readBy(how) }, how);
}

/** Withdraws a queued or running portal action of an open order. */
export async function withdraw(
  context: ClientContext,
  order: OrderKey,
  { number }: WithdrawRequest,
  how?: PortalOptions,
): Promise<PortalAnswer> {
  const workflowId = orderWorkflowId(order.integration, order.orderId);
  const update = updateOf(withdrawUpdate, { number }, how);
  // If the withdrawal is still running at the deadline, the order's record has the kind of the action.
  const reading = readOrder(context, workflowId).catch(() => undefined);
  const withdrawing = startedUpdate(context, workflowId, withdrawUpdate, update);
  const answer = await whileOpen(context, workflowId, withdrawing);
  if (answer !== undefined) return answer;
  const record = (await reading)?.actions.find((one) => one.number === number);
  if (record === undefined) throw workerSilent();
  const { kind, transactionId } = record;
  return defined({ number, ...order, kind, status: 'requested', transactionId });
}

/**
 * Checks the fields of a portal action, those for the screening service in either of its spellings.
 * @throws OrderScreeningError `invalid-request` with every error
 */
export function readPortalFields(kind: PortalActionKind, request: object = {}): PortalFields {
  const schema = portalOwnSchema(kind);
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  const part = (isOwn: boolean) =>
    Object.fromEntries(given.filter(([name]) => name in schema.shape === isOwn));
  const own = schema.safeParse(part(true), OUR_WORDS);
  const content = parsePortalFields(kind, part(false));
  if (!own.success || !content.ok) {
    throw invalidRequest([...fieldErrorsOf(own.error), ...(content.ok ? [] : content.fieldErrors)]);
  }
  // `kind` selects the schemas, so the fields match it.
  return { kind, ...own.data, ...content.data } as PortalFields;
}

/** Runs the action for a closed order in a workflow of its own, with the data of the order's full record. */
async function afterTheEnd(
  context: ClientContext,
  asked: PortalActionInput & OrderKey,
  { orderRequired = false }: PortalOptions,
): Promise<PortalAnswer> {
  const { orderId, fields, ...orderless } = asked;
  const workflowId = orderWorkflowId(asked.integration, orderId);
  const found = await readOrder(context, workflowId, 'full').catch((error: unknown) => {
    // A retry, or the right payload keys, may find a record.
    const isOpen = hasCode(error, 'temporal-unavailable', 'record-unreadable');
    if (isOpen || !(error instanceof OrderScreeningError)) throw error;
    // The order has expired, or its start was refused, so there is no record.
    return hasCode(error, 'unknown-order') ? error : orderClosed();
  });
  if (found instanceof OrderScreeningError) {
    const { transactionId } = fields;
    if (transactionId === undefined || orderRequired) throw found;
    if (integrationOf(context, asked.integration).passive) throw refusal('passive');
    await refuseTaken(context, transactionId, asked);
    if (fields.kind === 'cancel') throw refusal('cancel-window-unknown');
    requireEmail(fields);
    return run(context, { ...orderless, fields, transactionId });
  }
  const order = portalKind(fields.kind).once ? await withDoubts(context, asked, found) : found;
  const { code, ...details } = portalRefusal(order, fields, Date.now(), true) ?? {};
  if (code !== undefined) throw refusal(code, details);
  const before = earlier(order, fields);
  if (before?.status === 'done') return portalAnswer(order, before);
  requireEmail(fields);
  const attempt = attemptFor(order, fields.transactionId);
  const transactionId = transactionMeant(order, fields);
  const cancelBy = attempt && windowMeant(order, attempt, transactionId);
  const cancelWindowMs = order.policy?.cancelWindowMs;
  return run(context, { ...asked, ...defined({ transactionId, cancelBy, cancelWindowMs }) });
}

/**
 * Adds the decisions that were read after the order's end. Marks chargebacks that were running when the order was terminated as
 * `unconfirmed`: they may have been submitted. A subject that the record truncated counts as the same subject. Either way a person must
 * confirm with `force`.
 */
async function withDoubts(
  context: ClientContext,
  asked: PortalActionInput & OrderKey,
  order: OrderState,
): Promise<OrderState> {
  const late = await lateDecisions(context, asked);
  const transactions = order.transactions.map((transaction) => {
    const { decision } = late.findLast((one) => sameTransaction(one.transactionId, transaction.id)) ?? {};
    return { ...transaction, ...defined({ decision }) };
  });
  const own = subjectOf(order, asked.fields);
  const actions = order.actions.map((one): ActionRecord => {
    const isSame = one.subject.endsWith('…') && own.startsWith(one.subject.slice(0, -1));
    const status = isUnderWay(one) ? 'unconfirmed' : one.status;
    return { ...one, subject: isSame ? own : one.subject, status };
  });
  return { ...order, transactions, actions };
}

/** The record has no personal data, so there is no fallback for the e-mail. */
function requireEmail(fields: PortalFields): void {
  if (fields.kind !== 'customer-code' || fields.email !== undefined) return;
  throw invalidRequest([{ path: 'email', message: 'is required, since the order is closed' }]);
}

async function run(context: ClientContext, input: PortalActionInput): Promise<PortalAnswer> {
  const { client } = context;
  const { integration, orderId, transactionId, fields } = input;
  const { kind } = fields;
  const workflowId = portalActionWorkflowId(integration, kind, subjectOfRun(input));
  const start = (workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY') =>
    callTemporal(client, ANSWER_WITHIN_MS, () =>
      client.workflow.start(PORTAL_ACTION, {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [vouchedFor(input, integrationOf(context, integration))],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy,
        staticSummary: `${kind} of ${transactionId ?? 'a customer code'}`,
      }),
    );
  const handle = client.workflow.getHandle<() => Promise<PortalAnswer>>(workflowId);
  const result = () => within(client, Date.now() + ANSWER_WITHIN_MS, () => handle.result());
  const onlyOnce = isSentOnce(fields);
  try {
    await start(onlyOnce ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY');
  } catch (error) {
    // It was done before; its result is still available.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const failure = onlyOnce ? await result().then(() => undefined, toOrderError) : undefined;
    if (hasCode(failure, 'temporal-unavailable', 'record-unreadable')) throw failure;
    const isRefused = failure instanceof OrderScreeningError && failure.code !== 'outcome-unknown';
    // A chargeback that was refused for certain may be sent again.
    if (isRefused) await start('ALLOW_DUPLICATE_FAILED_ONLY');
    else if (failure !== undefined) throw refusal('outcome-unknown-before');
  }
  try {
    return await result();
  } catch (error) {
    const known = unreadRequest(error) ?? toOrderError(error);
    // A person ended it in Temporal.
    if (known instanceof WorkflowFailedError) throw refusal('outcome-unknown');
    if (!isUnanswered(error)) throw known;
    return defined({ integration, kind, status: 'requested', orderId, transactionId });
  }
}

/** Identifies an action in a workflow id, whatever the case of the transaction's id. The fields that distinguish actions are hashed. */
function subjectOfRun({ orderId, transactionId, fields }: PortalActionInput): string {
  const transaction = transactionId?.toLowerCase();
  const subject = portalKind(fields.kind).ofOrder ? (orderId ?? transaction) : transaction;
  const identity = identityOf(fields);
  if (identity === '') return `${subject}`;
  return `${subject}:${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`;
}

function refusal(code: OrderErrorCode, details: OrderErrorDetails = {}): OrderScreeningError {
  return new OrderScreeningError(code, ORDER_ERRORS[code].title, details);
}
