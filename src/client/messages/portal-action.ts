/** Portal actions: an update on an open order, a workflow of its own for a closed one. */
import { createHash } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { vouchedFor } from '../../card-data/card-data.ts';
import type { PortalAnswer } from '../../contract/answers.ts';
import {
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
} from '../../contract/messages.ts';
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
import { parsePortalFields } from '../../screening-service/index.ts';
import { refuseTaken } from '../lists/visibility.ts';
import { integrationOf, invalidRequest } from '../read-requests.ts';
import { lateDecisions } from '../reading/after-end.ts';
import { readOrder } from '../reading/read-orders.ts';
import {
  ANSWER_WITHIN_MS,
  callTemporal,
  isEnded,
  isUnanswered,
  orderClosed,
  toOrderError,
  unknownOrder,
  within,
} from '../temporal-errors.ts';
import type { ClientContext, OrderName, OrderScreening, PortalOptions } from '../types.ts';
import { readBy } from './portal-options.ts';
import { startedUpdate } from './send-update.ts';

/** Returns the client library's method for a kind of action. The caller has checked the fields of that kind. */
export function portalMethod(orders: OrderScreening, kind: PortalActionKind) {
  return orders[PORTAL_KINDS[kind].method] as (
    order: OrderName,
    request: object,
    how: PortalOptions,
  ) => Promise<PortalAnswer>;
}

/** Runs a portal action. @returns the screening service's reply, or `requested` after 10 s if the action is still running */
export async function portalAction(
  context: ClientContext,
  order: OrderKey,
  fields: PortalFields,
  how: PortalOptions = {},
): Promise<PortalAnswer> {
  const by = readBy(how);
  checkPortalFields(fields);
  const workflowId = orderWorkflowId(order.integration, order.orderId);
  const { kind, ...message } = { ...fields, ...by };
  // `kind` selects the definition, so the fields match it.
  const definition = UPDATES[kind] as UpdateDefinition<PortalAnswer, [Envelope<typeof message>]>;
  try {
    const answer = await startedUpdate(context, workflowId, definition, message, how);
    return answer ?? { ...order, kind, status: 'requested' };
  } catch (error) {
    // An order that has ended and only delivers its last events no longer accepts actions.
    if (!isEnded(error) && codeOf(error) !== 'order-closed') throw toOrderError(error);
  }
  return afterTheEnd(context, order, { fields, ...by }, how);
}

/** @throws OrderScreeningError `invalid-request` for fields that can't be sent to the screening service */
function checkPortalFields({ kind, notCards: _vouched, ...fields }: PortalFields): void {
  const own = portalOwnSchema(kind).shape;
  const sent = Object.entries(fields).filter(
    ([name, value]) => !(name in own) && (value ?? undefined) !== undefined,
  );
  const parsed = parsePortalFields(kind, Object.fromEntries(sent));
  if (!parsed.ok) throw invalidRequest(parsed.fieldErrors);
}

type Asked = Pick<PortalActionInput, 'fields' | 'by'>;

/** Runs the action for a closed order in a workflow of its own, with the data of the order's full record. */
async function afterTheEnd(
  context: ClientContext,
  key: OrderKey,
  asked: Asked,
  { orderRequired = false }: PortalOptions,
): Promise<PortalAnswer> {
  const { fields } = asked;
  const workflowId = orderWorkflowId(key.integration, key.orderId);
  let gone = unknownOrder();
  const found = await readOrder(context, workflowId, 'full').catch((error: unknown) => {
    const code = codeOf(error);
    // A retry, or the right payload keys, may find a record.
    if (code === undefined || code === 'temporal-unavailable' || code === 'record-unreadable') throw error;
    // The start was refused, so there is no record.
    if (code !== 'unknown-order') gone = orderClosed();
    return undefined;
  });
  if (found === undefined) {
    if (fields.transactionId === undefined || orderRequired) throw gone;
    return orderlessAction(context, key, fields.transactionId, asked);
  }
  const order = await withLateDecisions(context, key, withDoubts(found, fields), fields);
  const { code, ...details } = portalRefusal(order, fields, Date.now(), true) ?? {};
  if (code !== undefined) throw refusal(code, details);
  const before = earlier(order, fields);
  if (before?.status === 'done') return portalAnswer(order, before);
  requireEmail(fields);
  const attempt = attemptFor(order, fields.transactionId);
  const transactionId = transactionMeant(order, fields);
  const cancelBy = attempt && windowMeant(order, attempt, transactionId);
  const cancelWindowMs = order.policy?.cancelWindowMs;
  return run(context, { ...key, ...asked, ...defined({ transactionId, cancelBy, cancelWindowMs }) });
}

/**
 * Marks chargebacks that were running when the order was terminated as `unconfirmed`: they may have been submitted. A subject that the
 * record truncated counts as the same subject. Either way a person must confirm with `force`.
 */
function withDoubts(order: OrderState, fields: PortalFields): OrderState {
  if (!portalKind(fields.kind).once) return order;
  const asked = subjectOf(order, fields);
  const actions = order.actions.map((one): ActionRecord => {
    const subject =
      one.subject.endsWith('…') && asked.startsWith(one.subject.slice(0, -1)) ? asked : one.subject;
    return { ...one, subject, status: isUnderWay(one) ? 'unconfirmed' : one.status };
  });
  return { ...order, actions };
}

/** Adds the decisions that were read after the order's end, if they matter to the action. */
async function withLateDecisions(
  context: ClientContext,
  key: OrderKey,
  order: OrderState,
  fields: PortalFields,
): Promise<OrderState> {
  if (!isSentOnce(fields)) return order;
  const late = await lateDecisions(context, key);
  const transactions = order.transactions.map((transaction) => {
    const { decision } = late.findLast((one) => sameTransaction(one.transactionId, transaction.id)) ?? {};
    return decision === undefined ? transaction : { ...transaction, decision };
  });
  return { ...order, transactions };
}

/** Runs an action for a transaction whose order has expired or has no record. */
async function orderlessAction(
  context: ClientContext,
  key: OrderKey,
  transactionId: string,
  asked: Asked,
): Promise<PortalAnswer> {
  const { integration } = key;
  if (integrationOf(context, integration).passive) throw refusal('passive');
  await refuseTaken(context, transactionId, key);
  if (asked.fields.kind === 'cancel') throw refusal('cancel-window-unknown');
  requireEmail(asked.fields);
  return run(context, { integration, transactionId, ...asked });
}

/** The record has no personal data, so there is no fallback for the e-mail. */
function requireEmail(fields: PortalFields): void {
  if (fields.kind !== 'customer-code' || fields.email !== undefined) return;
  throw invalidRequest([{ path: 'email', message: 'is required, since the order is closed' }]);
}

async function run(context: ClientContext, input: PortalActionInput): Promise<PortalAnswer> {
  const { client } = context;
  const { integration, orderId, transactionId, fields } = input;
  const workflowId = portalActionWorkflowId(integration, fields.kind, subjectOfRun(input));
  const deadline = Date.now() + ANSWER_WITHIN_MS;
  const start = (workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY') =>
    callTemporal(client, deadline - Date.now(), () =>
      client.workflow.start(PORTAL_ACTION, {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [vouchedFor(input, integrationOf(context, integration))],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy,
        staticSummary: `${fields.kind} of ${transactionId ?? 'a customer code'}`,
      }),
    );
  const result = () =>
    within(client, deadline, () =>
      client.workflow.getHandle<() => Promise<PortalAnswer>>(workflowId).result(),
    );
  const onlyOnce = isSentOnce(fields);
  try {
    await start(onlyOnce ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY');
  } catch (error) {
    // It was done before; its result is still available.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    if (onlyOnce && (await wasRefused(result))) await start('ALLOW_DUPLICATE_FAILED_ONLY');
  }
  try {
    return await result();
  } catch (error) {
    const known = toOrderError(error);
    // A person ended it in Temporal.
    if (known instanceof WorkflowFailedError) throw refusal('outcome-unknown');
    if (!isUnanswered(error)) throw known;
    return defined({ integration, kind: fields.kind, status: 'requested', orderId, transactionId });
  }
}

/**
 * @returns true if the earlier chargeback was refused for certain and may be sent again; false if it was done
 * @throws OrderScreeningError `outcome-unknown-before` if its outcome is unknown, `temporal-unavailable` or `record-unreadable` if it can't be read
 */
async function wasRefused(result: () => Promise<PortalAnswer>): Promise<boolean> {
  try {
    await result();
    return false;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'temporal-unavailable' || code === 'record-unreadable') throw toOrderError(error);
    if (code !== undefined && code !== 'outcome-unknown') return true;
    throw refusal('outcome-unknown-before');
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

function codeOf(error: unknown): OrderErrorCode | undefined {
  const known = toOrderError(error);
  return known instanceof OrderScreeningError ? known.code : undefined;
}
