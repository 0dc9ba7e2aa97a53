/** What each portal action sends, checked: an order may be asked straight through Temporal, where no schema stands. */
import type { PortalRequest } from '../orders/world.ts';
import {
  type CallOptions,
  type ChargebackReply,
  customerCodeBodySchema,
  parseChargeback,
  type ScreeningClient,
} from '../screening/index.ts';
import { faultWords } from './faults.ts';

/** Sends the action; only a chargeback's reply echoes what was submitted. @throws ScreeningError */
export type PortalCall = (client: ScreeningClient, options: CallOptions) => Promise<ChargebackReply>;

/** @returns how to send the action, or the words of why it can't be: no value that was given is in them */
export function portalCall(request: PortalRequest): PortalCall | { words: string } {
  const { fields, transactionId } = request;
  if (fields.kind === 'customer-code')
    return customerCodeCall(fields.customerCode, fields.email ?? request.email);
  if (transactionId === undefined || transactionId === '') return { words: 'No transaction is named.' };
  switch (fields.kind) {
    case 'cancel':
      return (client, options) => client.cancelTransaction({ transactionId }, options);
    case 'report-fraud':
      return (client, options) => client.reportFraud({ transactionId }, options);
    case 'chargeback': {
      const { kind: _kind, force: _force, transactionId: _named, ...given } = fields;
      const filled = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
      const parsed = parseChargeback(Object.fromEntries(filled));
      if (!parsed.ok) return { words: `The chargeback breaks a rule: ${faultWords(parsed.faults)}.` };
      return (client, options) => client.submitChargeback({ transactionId, ...parsed.chargeback }, options);
    }
  }
}

function customerCodeCall(customerCode: string, email: string | undefined): PortalCall | { words: string } {
  const { customer_code, email: emailSchema } = customerCodeBodySchema.shape;
  const checked = [
    ['customerCode', customer_code.safeParse(customerCode)],
    ['email', emailSchema.safeParse(email ?? '')],
  ] as const;
  const faults = checked.flatMap(([path, { error }]) =>
    (error?.issues ?? []).map(({ message }) => ({ path, message })),
  );
  if (email === undefined || faults.length > 0) {
    return { words: `The customer code breaks a rule: ${faultWords(faults)}.` };
  }
  return (client, options) => client.customerCode({ customerCode, email }, options);
}
