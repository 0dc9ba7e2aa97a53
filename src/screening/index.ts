/** The screening service's interface: its resources, its client, its errors and its webhooks. */
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
