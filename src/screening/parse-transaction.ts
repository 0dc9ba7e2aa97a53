import { schemaFindings } from './schema-findings.ts';
import { type Finding, isObject, type Spelled, toDefinitionSpelling } from './spellings.ts';
import {
  gatewayTypeOf,
  ruleFindings,
  SERVICE_KEY_MESSAGE,
  type TransactionRules,
} from './transaction-rules.ts';
import {
  type CardData,
  type Transaction,
  type TransactionRequest,
  transactionRequestSchema,
} from './transaction-schema.ts';
import type { Fault } from './vocabulary.ts';

export type ParsedTransaction =
  | { ok: true; transaction: Transaction; card?: CardData }
  | { ok: false; faults: Fault[] };

const SERVICE_KEYS = ['nf-token', 'nfToken', 'nf_token'];

/**
 * Reads an order service's transaction: both spellings, every limit of the interface document, the rules between
 * fields and the payment data its integration workflow requires.
 *
 * The result is in definition spelling, has `gatewayType` by the integration workflow and the card's `bin` and `last4`, and
 * is without full card data, which comes apart as `card` (pre-gateway only, and not with `cardInStash`).
 * Otherwise every fault is listed, at its path in the sender's spelling (`payment.creditCard.last4`,
 * `lineItems[0].price`); no message holds a value that was sent. Never throws.
 */
export function parseTransaction(input: unknown, rules: TransactionRules): ParsedTransaction {
  const spelled = toDefinitionSpelling(transactionRequestSchema, input);
  if (!isObject(spelled.value)) {
    return { ok: false, faults: [{ path: '', message: 'must be an object: the transaction' }] };
  }
  const { keyFindings, body } = withoutServiceKeys(spelled.value);
  const tidy = withoutInvoiceHash(body);
  const parsed = transactionRequestSchema.safeParse(tidy);
  const findings = [
    ...keyFindings,
    ...spelled.findings,
    ...(parsed.success ? [] : schemaFindings(parsed.error, tidy)),
  ];
  const faults = show(findings, ruleFindings(tidy, rules), spelled);
  if (!parsed.success || faults.length > 0) return { ok: false, faults };
  return { ok: true, ...split(parsed.data, rules) };
}

function withoutServiceKeys(body: Record<string, unknown>) {
  const fields = Object.entries(body);
  const isKey = ([name]: [string, unknown]) => SERVICE_KEYS.includes(name);
  return {
    keyFindings: fields
      .filter(isKey)
      .map(([name]): Finding => ({ path: [name], message: SERVICE_KEY_MESSAGE })),
    body: Object.fromEntries(fields.filter((field) => !isKey(field))),
  };
}

/** Removes the `#` an invoice number may be shown with ("Rules for lookups by invoice", 1). */
export function withoutHash(invoiceNumber: string): string {
  return invoiceNumber.startsWith('#') ? invoiceNumber.slice(1) : invoiceNumber;
}

function withoutInvoiceHash(body: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(body.order) || typeof body.order.invoiceNumber !== 'string') return body;
  return { ...body, order: { ...body.order, invoiceNumber: withoutHash(body.order.invoiceNumber) } };
}

/** One fault a path from the rules at most, and none where the schema found one already. */
function show(findings: Finding[], fromRules: Finding[], { shownPath }: Spelled): Fault[] {
  const faults = findings.map(({ path, message }) => ({ path: shownPath(path), message }));
  const seen = new Set(faults.map(({ path }) => path));
  for (const { path, message } of fromRules) {
    const fault = { path: shownPath(path), message };
    if (seen.has(fault.path)) continue;
    seen.add(fault.path);
    faults.push(fault);
  }
  return faults;
}

function split(request: TransactionRequest, { workflow }: TransactionRules) {
  const { enrich: _setByPolicy, payment, ...order } = request;
  const { cardNumber, expirationDate, cardCode, ...creditCard } = payment.creditCard;
  const transaction: Transaction = {
    ...order,
    gatewayType: gatewayTypeOf(workflow),
    payment: { ...payment, creditCard },
  };
  if (cardNumber === undefined || expirationDate === undefined || cardCode === undefined)
    return { transaction };
  creditCard.bin ??= cardNumber.slice(0, 6);
  creditCard.last4 ??= cardNumber.slice(-4);
  return { transaction, card: { cardNumber, expirationDate, cardCode } };
}
