import { z } from 'zod';

export const DECISIONS = ['pass', 'fail', 'review', 'fraudulent', 'error'] as const;
export type Decision = (typeof DECISIONS)[number];

export const MODES = ['test', 'live'] as const;
export type Mode = (typeof MODES)[number];

const SCREENING_OPERATIONS = [
  'create-transaction',
  'gateway-response',
  'status',
  'status-by-url',
  'status-by-invoice',
] as const;
export const PORTAL_OPERATIONS = [
  'customer-code',
  'report-fraud',
  'cancel-transaction',
  'submit-chargeback',
] as const;
/** Operations that support fault injection: those of the screening service, and its webhooks. */
export const FAULTY_OPERATIONS = [...SCREENING_OPERATIONS, ...PORTAL_OPERATIONS, 'webhook'] as const;
export type PortalOperation = (typeof PORTAL_OPERATIONS)[number];
export type Operation = (typeof FAULTY_OPERATIONS)[number];

/** Types of ledger entries: an operation, an alert to analysts, a changed decision, or a request to an unknown path. */
export const LEDGER_OPERATIONS = [...FAULTY_OPERATIONS, 'alert', 'decision-change', 'unknown'] as const;
export type LedgerOperation = (typeof LEDGER_OPERATIONS)[number];

/** One request, webhook delivery or internal event. Never contains a key or card data. */
export interface LedgerEntry {
  /** Sequence number from 1, in order of arrival. */
  sequence: number;
  /** Arrival on the sandbox's clock, ISO 8601. */
  at: string;
  wallAt: string;
  operation: LedgerOperation;
  /** The API that was called; `webhook` for webhook deliveries, `service` for internal events. */
  base: Mode | 'portal' | 'webhook' | 'service' | 'none';
  transactionId: string | null;
  invoiceNumber: string | null;
  outcome: {
    /** HTTP status of the reply (for a webhook: of the receiver's reply); null without a reply. */
    status: number | null;
    /** `code` in the body of a portal reply. */
    code: number | string | null;
    /** The decision at the time of the reply (for a webhook: the decision that was sent). */
    decision: string | null;
  };
  callerPort: number | null;
  /** Whether the state was changed; for a webhook, whether the receiver accepted it. */
  committed: boolean;
  fault: string | null;
}

export const chargebackSchema = z.object({
  transaction_id: z.string(),
  reason_code: z.string().min(1),
  due_date: z.iso.date(),
  notice_date: z.iso.date().optional(),
  reference_number: z.string().optional(),
  carrier: z.string().optional(),
  carrier_tracking_number: z.string().optional(),
  notes: z.string().optional(),
  inquiry: z.enum(['true', 'false']).optional(),
});

export const transactionRecordSchema = z.object({
  id: z.string(),
  mode: z.enum(MODES),
  /** `order.invoiceNumber` without a leading `#`; null without one. */
  invoiceNumber: z.string().nullable(),
  amount: z.string(),
  last4: z.string().nullable(),
  decision: z.enum(DECISIONS),
  decisions: z.array(
    z.object({ decision: z.enum(DECISIONS), at: z.string(), by: z.enum(['screening', 'analyst']) }),
  ),
  /** On the sandbox's clock, ISO 8601, like every other time here. */
  createdAt: z.string(),
  gatewayResponses: z.array(
    z.object({
      at: z.string(),
      result: z.string().nullable(),
      authcode: z.string().nullable(),
      transactionId: z.string().nullable(),
    }),
  ),
  fraudReports: z.array(z.string()),
  canceledAt: z.string().nullable(),
  covered: z.boolean(),
  chargebacks: z.array(chargebackSchema),
});
export type TransactionRecord = z.infer<typeof transactionRecordSchema>;

export const customerCodeSchema = z.object({
  at: z.string(),
  mode: z.enum(MODES),
  customerCode: z.string(),
  email: z.string(),
});

export const portalSettingsSchema = z.object({
  /** Type of `code` in portal replies. The documentation shows both. */
  codeType: z.enum(['number', 'string', 'alternating']),
  covered: z.boolean(),
  /** The cancel window in milliseconds; that of the screening service is 5 days. */
  cancelWindowMs: z.number().int().positive(),
});
export type PortalSettings = z.infer<typeof portalSettingsSchema>;

export const screeningSettingsSchema = z.object({
  /** What happens to a gateway result that the interface doesn't name: it names `pass` and `fail`. */
  otherGatewayResults: z.enum(['accept', 'refuse']),
  /** What happens to a transaction without `payment.creditCard`: the interface's table requires it. */
  withoutCreditCard: z.enum(['accept', 'refuse']),
});
export type ScreeningSettings = z.infer<typeof screeningSettingsSchema>;

/** The reply of an operation, and whether it changed the state. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly committed: boolean;
  readonly transaction?: TransactionRecord | undefined;
}

/** The transaction that a request is about, as far as the request shows it. */
export type Subject = Readonly<Pick<LedgerEntry, 'transactionId' | 'invoiceNumber'>>;
