/** When a portal action is the same as one that was asked before. */
import type { ChargebackRequest, CustomerCodeRequest, PortalFields } from './messages.ts';
import { currentAttempt } from './record.ts';
import type { ActionRecord, OrderState } from './state.ts';

/** @returns the newest record of the same action, if it was asked before */
export function earlier(order: OrderState, fields: PortalFields): ActionRecord | undefined {
  const subject = subjectOf(order, fields);
  return order.actions.findLast((record) => record.subject === subject);
}

/** @returns whether a record stands for the action: it is done, or on its way */
export function stands(record: ActionRecord | undefined): record is ActionRecord {
  return record !== undefined && (record.status === 'done' || isUnderWay(record));
}

/** @returns whether the action runs, or waits */
export function isUnderWay({ status }: Pick<ActionRecord, 'status'>): boolean {
  return status === 'queued' || status === 'running';
}

/** @returns the transaction that the caller named; some languages say `null` for what is left out */
export function namedTransaction(fields: PortalFields | undefined): string | undefined {
  return fields?.transactionId ?? undefined;
}

/** The one that is named, else the newest attempt's, if it has one. */
export function transactionMeant(order: OrderState, fields: PortalFields): string | undefined {
  return namedTransaction(fields) ?? currentAttempt(order).transactionId;
}

/** @returns what was asked in one string: the same again joins it or gets its answer */
export function subjectOf(order: OrderState, fields: PortalFields): string {
  const transaction = transactionMeant(order, fields) ?? 'none';
  switch (fields.kind) {
    case 'cancel':
    case 'report-fraud':
      return `${fields.kind}:${transaction}`;
    case 'customer-code':
      return `${fields.kind}:${customerCodeIdentity(fields)}`;
    case 'chargeback':
      return `${fields.kind}:${transaction}:${chargebackIdentity(fields)}`;
  }
}

/** @returns what tells a customer code from another one of the same order: another e-mail makes another */
export function customerCodeIdentity({ customerCode, email }: CustomerCodeRequest): string {
  return JSON.stringify([customerCode, email ?? '']);
}

/**
 * @returns what tells a chargeback from another one of the same transaction: every field that is sent. The same one with other
 * evidence is another submission. `inquiry` is a boolean to the service, and absent it is false
 */
export function chargebackIdentity(fields: ChargebackRequest): string {
  const { reason_code, due_date, notice_date, reference_number, carrier, carrier_tracking_number, notes } =
    fields;
  const sent = [
    reason_code,
    due_date,
    notice_date,
    reference_number,
    carrier,
    carrier_tracking_number,
    notes,
  ];
  return JSON.stringify([...sent.map((one) => one ?? ''), fields.inquiry === 'true']);
}
