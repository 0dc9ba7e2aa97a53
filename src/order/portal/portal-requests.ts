/** Requests for portal actions: whether they are valid, and whether the same action was requested before. Pure, no zod. */
import type { PortalFields, WithdrawRequest } from '../../contract/messages.ts';
import type { ActionRecord, OrderState } from '../../contract/order/state.ts';
import { contentOf, portalKind } from '../../contract/portal/portal-kinds.ts';
import { bytesOf } from '../bounds.ts';
import { invalid, refusal } from '../messages/check-messages.ts';
import { fieldsOf, textOf } from '../messages/shapes.ts';
import type { Order, Refusal, Request } from '../order.ts';
import { currentAttempt } from '../record.ts';
import { isUnderWay, transactionNamed, transactionOf } from '../transactions.ts';
import { sameActions } from './repeats.ts';

export function withdrawRefusal({ state }: Order, { number }: WithdrawRequest): Refusal | undefined {
  const record = state.actions[number - 1];
  if (record === undefined)
    return refusal('unknown-action', 'The order has no portal action with this number.');
  if (isUnderWay(record) || record.status === 'withdrawn') return undefined;
  return refusal('action-ended', `The portal action has ended: it is ${record.status}.`);
}

export function emailOf({ asked }: Pick<Order, 'asked'>): string {
  return textOf(fieldsOf(asked.transaction.customer).email) ?? '';
}

/** @returns the fields that identify a portal action. A customer code with the attempt's own e-mail is the same as one without an e-mail */
export function identified(order: Order, fields: PortalFields): PortalFields {
  if (fields.kind !== 'customer-code') return fields;
  return fields.email === emailOf(order) ? { ...fields, email: '' } : fields;
}

/** @returns why a customer code without an e-mail is refused: an adopted order has no customer */
export function emailRefusal({ adopted }: OrderState, fields: PortalFields): Refusal | undefined {
  if (adopted === undefined || fields.kind !== 'customer-code' || fields.email) return undefined;
  return invalid([
    { path: 'email', message: 'is required, since the order was adopted without its customer' },
  ]);
}

const MAX_ACTIONS = 200;
/** Bytes of an order's portal actions as JSON: together with a large transaction they must fit Temporal's limit of 2 MB. */
const ACTIONS_LIMIT = 500_000;

export function tooManyActions(
  { state: { actions }, fields }: Pick<Order, 'state' | 'fields'>,
  another: PortalFields,
): Refusal | undefined {
  // A cancel that is refused for now may be requested again until its window closes.
  const isCounted = another.kind !== 'cancel' && actions.length >= MAX_ACTIONS;
  if (!isCounted && bytesOf([actions, fields, another]) <= ACTIONS_LIMIT) return undefined;
  const most = `${MAX_ACTIONS} portal actions, of ${ACTIONS_LIMIT} bytes in all`;
  return refusal('too-many-actions', `An order has at most ${most}.`);
}

// Repeated portal actions.

/** Returns the newest record of the same action that did not end unsent. */
export function earlier(state: OrderState, fields: PortalFields): ActionRecord | undefined {
  return sameActions(state.actions, subjectOf(state, fields)).at(-1);
}

/**
 * @returns the done or pending action that a request joins or gets its answer from, if any. While the order is screened, a cancel that
 * names no transaction waits for the newest one, so neither it nor a cancel that names the present one joins the other
 */
export function joined({ state, fields }: Order, asked: PortalFields): ActionRecord | undefined {
  const isNamed = asked.transactionId !== undefined;
  const last = sameActions(state.actions, subjectOf(state, asked)).findLast(({ number, kind, status }) => {
    const differs = (fields[number]?.transactionId !== undefined) !== isNamed;
    return !(kind === 'cancel' && status === 'queued' && differs);
  });
  const isJoined = last && (last.status === 'done' || (isUnderWay(last) && last.stop === undefined));
  return isJoined ? last : undefined;
}

/** Returns whether a request only waits for a pending action. */
export function onlyWaits(order: Order, { kind, request }: Request): boolean {
  const action = kind === 'portal' ? joined(order, identified(order, request.fields)) : undefined;
  return action !== undefined && isUnderWay(action);
}

/** Returns the requested transaction, as the screening service spells it, else that of the newest attempt, if any. */
export function transactionMeant(state: OrderState, fields: PortalFields): string | undefined {
  const named = fields.transactionId;
  if (named === undefined) return transactionOf(state, currentAttempt(state))?.id;
  return transactionNamed(state, named)?.id ?? named;
}

/** @returns a key of the request: an equal key joins the action or gets its answer. A different e-mail or evidence makes a different key */
export function subjectOf(state: OrderState, fields: PortalFields): string {
  const { ofOrder } = portalKind(fields.kind);
  // Each attempt has its own e-mail, which no record keeps.
  const ofAttempt = fields.kind === 'customer-code' && !fields.email && currentAttempt(state).number;
  const transaction = ofOrder ? ofAttempt : (transactionMeant(state, fields) ?? 'none');
  return [fields.kind, transaction, identityOf(fields)].filter(Boolean).join(':');
}

/** @returns the part of the key that distinguishes actions of the same kind and transaction, or an empty string */
export function identityOf(fields: PortalFields): string {
  const given = new Map<string, unknown>(Object.entries(fields));
  // For the screening service a missing `inquiry` means `false`.
  if (given.get('inquiry') === 'false') given.delete('inquiry');
  const names = contentOf(fields.kind);
  return names.length === 0 ? '' : JSON.stringify(names.map((name) => given.get(name) ?? ''));
}
