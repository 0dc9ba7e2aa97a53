/** The screening service's interface: resources, client, errors and webhooks. */

export { MOST_ERRORS, OUR_WORDS } from './check-fields.ts';
export type { CallOptions, ScreeningClient } from './client.ts';
export {
  createScreeningClient,
  parsePortalFields,
} from './client.ts';
export { readFailure, ScreeningError } from './errors.ts';
export { readRetryAfter, requestReason } from './exchange.ts';
export { invoiceNumber } from './fields.ts';
export { type HttpResponse, MACHINE, type Machine, proxyFor, sleepOn } from './machine.ts';
export { readForAdoption } from './read-for-adoption.ts';
export type {
  ChargebackReply,
  TransactionResponse,
} from './replies.ts';
export type { Dialect } from './spellings.ts';
export {
  cardOfWorkflow,
  isExpired,
  parseCard,
} from './transaction/card-rules.ts';
export {
  createBodySchema,
  fingerprint,
  fingerprintOfRaw,
  ORIGINS,
  parseTransaction,
  withoutOriginsLikeCards,
  writeTransaction,
} from './transaction/parse-transaction.ts';
export {
  CARD_FIELDS,
  type TransactionRules,
  transactionRules,
} from './transaction/transaction-rules.ts';
export {
  type CardData,
  cardSchema,
  type Transaction,
  type TransactionRequest,
  transactionRequestSchema,
  transactionSchema,
} from './transaction/transaction-schema.ts';
export { readWebhook } from './webhook.ts';
