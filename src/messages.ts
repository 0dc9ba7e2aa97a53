/** The workflow's contract, for who speaks to orders with a Temporal client of their own. Design section 5. */

export { ORDER_ERRORS, type OrderErrorCode } from './orders/errors.ts';
export {
  DEFAULT_INTEGRATION,
  decisionUpdateId,
  gatewayUpdateId,
  orderWorkflowId,
  retryUpdateId,
  TASK_QUEUE,
} from './orders/ids.ts';
export * from './orders/messages.ts';
export type * from './orders/state.ts';
export type {
  Action,
  Decision,
  GatewayResult,
  Instant,
  IntegrationWorkflow,
  OrderDecision,
  Phase,
  PortalActionKind,
  ReadingSource,
} from './orders/words.ts';
