/** The screening service's interface: its resources, its client, its errors and its webhooks. */

export {
  type CardRules,
  holdsCardNumber,
  isExpired,
  type ParsedCard,
  parseCard,
  passesLuhn,
} from './card-rules.ts';
export { createScreeningClient } from './client.ts';
export type {
  CallOptions,
  CreateRequest,
  GatewayResult,
  ScreeningClient,
  ScreeningClientSettings,
} from './client-types.ts';
export {
  type Operation,
  type Outcome,
  type Reason,
  ScreeningError,
  type ScreeningFailure,
} from './errors.ts';
export { hasUnprintable } from './fields.ts';
export { fingerprint } from './fingerprint.ts';
export { type ParsedChargeback, parseChargeback } from './parse-chargeback.ts';
export { type ParsedTransaction, parseTransaction, withoutHash } from './parse-transaction.ts';
export {
  type Chargeback,
  chargebackBodySchema,
  chargebackSchema,
  customerCodeBodySchema,
  type GatewayResponseBody,
  gatewayResponseBodySchema,
  gatewayResultSchema,
  transactionActionBodySchema,
} from './portal-schema.ts';
export {
  type ChargebackReply,
  enrichedResponseSchema,
  type Insights,
  insightsSchema,
  type PortalReply,
  standardResponseSchema,
  type TransactionResponse,
} from './responses.ts';
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
  type Decision,
  type Dialect,
  type Fault,
  INTEGRATION_WORKFLOWS,
  type IntegrationWorkflow,
  isDecision,
  type Mode,
} from './vocabulary.ts';
export { readWebhook, type WebhookHint, type WebhookRequest } from './webhook.ts';
export { type CreateBody, createBodySchema, writeTransaction } from './write-transaction.ts';
