/** The words of the sandbox. */
import { z } from 'zod';

/** What the service may decide. */
export const DECISIONS = ['pass', 'fail', 'review', 'fraudulent', 'error'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The mode of a key, and the base address that goes with it. */
export type Mode = 'test' | 'live';

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
/** What faults can be planned for: every operation of the service, and its webhooks. */
export const FAULTY_OPERATIONS = [...SCREENING_OPERATIONS, ...PORTAL_OPERATIONS, 'webhook'] as const;
export type ScreeningOperation = (typeof SCREENING_OPERATIONS)[number];
export type PortalOperation = (typeof PORTAL_OPERATIONS)[number];
export type Operation = (typeof FAULTY_OPERATIONS)[number];

/** What a ledger entry is about: an operation, an analyst's alert or change, or a request to no known path. */
export const LEDGER_OPERATIONS = [...FAULTY_OPERATIONS, 'alert', 'decision-change', 'unknown'] as const;
export type LedgerOperation = (typeof LEDGER_OPERATIONS)[number];

export const ledgerEntrySchema = z.object({
  /** Counted from 1, in order of arrival. */
  sequence: z.number().int(),
  /** Arrival on the sandbox's clock, ISO 8601. */
  at: z.string(),
  /** Arrival on the wall clock, ISO 8601. */
  wallAt: z.string(),
  operation: z.enum(LEDGER_OPERATIONS),
  /** The address that was called; `webhook` for our own deliveries, `service` for what happened inside. */
  base: z.enum(['test', 'live', 'portal', 'webhook', 'service', 'none']),
  transactionId: z.string().nullable(),
  invoiceNumber: z.string().nullable(),
  outcome: z.object({
    /** HTTP status that was sent (for a webhook: received); null when there was none. */
    status: z.number().nullable(),
    /** The portal's code in the body. */
    code: z.union([z.number(), z.string()]).nullable(),
    /** The decision as it stood when the answer was made (for a webhook: as it was told). */
    decision: z.string().nullable(),
  }),
  /** Of the connection that a request came by, at the caller's end. */
  callerPort: z.number().int().nullable().default(null),
  /** Whether the state was changed; for a webhook, whether its receiver took it. */
  committed: z.boolean(),
  /** The kind of fault that was played. */
  fault: z.string().nullable(),
});
/** One request, webhook delivery or inner event. Never holds a key or card data. */
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

export const chargebackSchema = z.object({
  transaction_id: z.string(),
  reason_code: z.string(),
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
  mode: z.enum(['test', 'live']),
  /** `order.invoiceNumber` without a leading `#`; null when none was sent. */
  invoiceNumber: z.string().nullable(),
  amount: z.string(),
  last4: z.string().nullable(),
  decision: z.enum(DECISIONS),
  /** Every decision it has had, oldest first. */
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
  /** Covered by chargeback protection. */
  covered: z.boolean(),
  chargebacks: z.array(chargebackSchema),
});
/** The whole truth about one transaction. */
export type TransactionRecord = z.infer<typeof transactionRecordSchema>;

export const customerCodeSchema = z.object({
  at: z.string(),
  mode: z.enum(['test', 'live']),
  customerCode: z.string(),
  email: z.string(),
});
export type CustomerCode = z.infer<typeof customerCodeSchema>;

export const portalSettingsSchema = z.object({
  /** Type of `code` in portal replies: both are described. */
  codeType: z.enum(['number', 'string', 'alternating']),
  /** Whether new transactions are covered by chargeback protection. */
  covered: z.boolean(),
  /** The cancel window in milliseconds; the service's is 5 days. */
  cancelWindowMs: z.number().int().positive(),
});
export type PortalSettings = z.infer<typeof portalSettingsSchema>;

/** What an operation answers, and whether it changed the state. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly committed: boolean;
  readonly transaction?: TransactionRecord | undefined;
}

/** What a request is about, as far as it can be told before it is answered. */
export interface Subject {
  readonly transactionId: string | null;
  readonly invoiceNumber: string | null;
}
