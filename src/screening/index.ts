/** The screening service's interface: its resources, its client, its errors and its webhooks. */

export { holdsCardNumber, isExpired, isTestCardNumber, parseCard, passesLuhn } from './card-rules.ts';
export type { CallOptions, ScreeningClient } from './client.ts';
export {
  chargebackSchema,
  createScreeningClient,
  customerCodeBodySchema,
  parseChargeback,
} from './client.ts';
export { ScreeningError } from './errors.ts';
export { hasUnprintable } from './fields.ts';
export type { Dialect } from './findings.ts';
export { createBodySchema, fingerprint, parseTransaction, writeTransaction } from './parse-transaction.ts';
export {
  type ChargebackReply,
  insightsSchema,
  isDecision,
  type TransactionResponse,
} from './replies.ts';
export { shownName } from './spellings.ts';
export type { TransactionRules } from './transaction-rules.ts';
export {
  type CardData,
  cardSchema,
  type Transaction,
  type TransactionRequest,
  transactionRequestSchema,
  transactionSchema,
} from './transaction-schema.ts';
export { readWebhook } from './webhook.ts';
