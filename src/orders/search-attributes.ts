import { defineSearchAttributeKey } from '@temporalio/common';

/** Where the order is: the phase. Set at start and at each change of phase. */
export const screeningPhase = defineSearchAttributeKey('ScreeningPhase', 'KEYWORD');

/** The newest attempt's decision: the service's word, or `pending` or `skipped`. */
export const screeningDecision = defineSearchAttributeKey('ScreeningDecision', 'KEYWORD');

/** What the order service must do next: `proceed`, `hold`, `decline` or `cancel`. */
export const screeningAction = defineSearchAttributeKey('ScreeningAction', 'KEYWORD');

/** The integration's short key. */
export const screeningIntegration = defineSearchAttributeKey('ScreeningIntegration', 'KEYWORD');

/** Every invoice number the order was screened under. */
export const invoiceNumber = defineSearchAttributeKey('InvoiceNumber', 'KEYWORD_LIST');

/** The service's id of each of the order's transactions. */
export const transactionId = defineSearchAttributeKey('TransactionId', 'KEYWORD_LIST');

/** The moment after which the newest transaction can't be canceled with the service. */
export const cancelBy = defineSearchAttributeKey('CancelBy', 'DATETIME');

/** True while something about the order must be looked at by a person. */
export const needsAttention = defineSearchAttributeKey('NeedsAttention', 'BOOL');

/** The order's amount, in the order's own currency. */
export const orderAmount = defineSearchAttributeKey('OrderAmount', 'DOUBLE');

/** The number of the rules that the order lives by: a release is known to have gone when no open order needs it. */
export const screeningRules = defineSearchAttributeKey('ScreeningRules', 'INT');

/** Every search attribute of an order: what `npm run setup:temporal` registers and workers insist on. */
export const orderSearchAttributes = [
  screeningPhase,
  screeningDecision,
  screeningAction,
  screeningIntegration,
  invoiceNumber,
  transactionId,
  cancelBy,
  needsAttention,
  orderAmount,
  screeningRules,
] as const;
