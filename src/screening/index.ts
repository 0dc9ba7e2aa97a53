/** The screening service's interface: its resources, its client, its errors and its webhooks. */

export { holdsCardNumber, isExpired, parseCard, passesLuhn } from './card-rules.ts';
export { createScreeningClient } from './client.ts';
export type { CallOptions, ScreeningClient } from './client-types.ts';
export { ScreeningError } from './errors.ts';
export { hasUnprintable } from './fields.ts';
export { fingerprint } from './fingerprint.ts';
export { parseChargeback } from './parse-chargeback.ts';
export { parseTransaction } from './parse-transaction.ts';
export { chargebackSchema, customerCodeBodySchema } from './portal-schema.ts';
export { type ChargebackReply, insightsSchema, type TransactionResponse } from './responses.ts';
export { shownName } from './spellings.ts';
export { isTestCardNumber } from './test-card-numbers.ts';
export type { TransactionRules } from './transaction-rules.ts';
export {
  type CardData,
  cardSchema,
  type Transaction,
  type TransactionRequest,
  transactionRequestSchema,
  transactionSchema,
} from './transaction-schema.ts';
export {
  DECISIONS,
  type Dialect,
  type Fault,
  INTEGRATION_WORKFLOWS,
  type IntegrationWorkflow,
  isDecision,
} from './vocabulary.ts';
export { readWebhook } from './webhook.ts';
export { createBodySchema, writeTransaction } from './write-transaction.ts';
