/** What is asked of the portal: whether it can be read, and whether it was asked before. Pure, no zod. */
import type { PortalFields, WithdrawRequest } from '../contract/messages.ts';
import { contentOf, portalKind } from '../contract/portal-kinds.ts';
import type { ActionRecord, OrderState } from '../contract/state.ts';
import { bytesOf } from './bounds.ts';
import { invalid, refusal } from './check-messages.ts';
import type { Order, Refusal } from './order.ts';
import { currentAttempt } from './record.ts';
import { transactionNamed, transactionOf } from './transactions.ts';

/** @returns why the `withdraw` update isn't taken, or undefined: it is */
export function withdrawRefusal(state: OrderState, { number }: WithdrawRequest): Refusal | undefined {
  const record = state.actions[number - 1];
  if (record === undefined)
    return refusal('unknown-action', 'The order has no portal action of that number.');
  if (isUnderWay(record) || record.status === 'withdrawn') return undefined;
  return refusal('action-ended', `The portal action has ended: it is ${record.status}.`);
}

/** @returns the e-mail of the order's customer, empty where it isn't known */
export function emailOf({ state, transactions }: Pick<Order, 'state' | 'transactions'>): string {
  const { customer } = transactions[currentAttempt(state).number] ?? {};
  const known =
    typeof customer === 'object' && customer !== null && 'email' in customer ? customer.email : '';
  return typeof known === 'string' ? known : '';
}

/**
 * @returns what a portal action is known by. A customer code with the order's own e-mail is the same as one without, which the record
 * then doesn't have; the next attempt may have another e-mail
 */
export function identified(order: Order, fields: PortalFields): PortalFields {
  if (fields.kind !== 'customer-code' || order.state.attempts.length > 1) return fields;
  return fields.email === emailOf(order) ? { ...fields, email: '' } : fields;
}

/** @returns why a customer code has no e-mail to go with: an order that was adopted doesn't know its customer */
export function emailRefusal({ adopted }: OrderState, fields: PortalFields): Refusal | undefined {
  if (adopted === undefined || fields.kind !== 'customer-code' || fields.email) return undefined;
  return invalid([
    { path: 'email', message: 'is required, since the order was adopted without its customer' },
  ]);
}

const MOST_ACTIONS = 200;
/** Of an order's portal actions as JSON: with a large transaction they pass through Temporal in one piece of 2 MB at most. */
const ACTIONS_LIMIT = 500_000;

/** @returns why an order takes no portal action beside those it had, or undefined: it does */
export function tooManyActions(
  { state: { actions }, fields }: Pick<Order, 'state' | 'fields'>,
  another: PortalFields,
): Refusal | undefined {
  if (actions.length < MOST_ACTIONS && bytesOf([actions, fields, another]) <= ACTIONS_LIMIT) return undefined;
  const most = `${MOST_ACTIONS} portal actions, of ${ACTIONS_LIMIT} bytes in all`;
  return refusal('too-many-actions', `An order has at most ${most}.`);
}

// When a portal action is the same as one that was asked before.

/** @returns the newest record of the same action, if it was asked before */
export function earlier(state: OrderState, fields: PortalFields): ActionRecord | undefined {
  const subject = subjectOf(state, fields);
  return state.actions.findLast((record) => record.subject === subject);
}

/** @returns whether a record stands for the action: it is done, or on its way */
export function stands(record: ActionRecord | undefined): record is ActionRecord {
  return record !== undefined && (record.status === 'done' || isUnderWay(record));
}

/** @returns whether the action runs, or waits */
export function isUnderWay({ status }: Pick<ActionRecord, 'status'>): boolean {
  return status === 'queued' || status === 'running';
}

/** The one that is named, in the service's spelling, else the newest attempt's, if it has one. */
export function transactionMeant(state: OrderState, fields: PortalFields): string | undefined {
  const named = fields.transactionId;
  if (named === undefined) return transactionOf(state, currentAttempt(state))?.id;
  return transactionNamed(state, named)?.id ?? named;
}

/** @returns what was asked in one string: the same again joins it or gets its answer. A customer code with another e-mail, and a chargeback with other evidence, is another action */
export function subjectOf(state: OrderState, fields: PortalFields): string {
  const { ofOrder } = portalKind(fields.kind);
  const transaction = ofOrder ? undefined : (transactionMeant(state, fields) ?? 'none');
  return [fields.kind, transaction, identityOf(fields)].filter(Boolean).join(':');
}

/** @returns what tells a portal action from another of the same kind and transaction; an empty text if nothing does */
export function identityOf(fields: PortalFields): string {
  const given = new Map<string, unknown>(Object.entries(fields));
  // To the screening service no inquiry is the same as `false`.
  if (given.get('inquiry') === 'false') given.delete('inquiry');
  const names = contentOf(fields.kind);
  return names.length === 0 ? '' : JSON.stringify(names.map((name) => given.get(name) ?? ''));
}
