/**
 * The portal actions as callers request them. The HTTP routes, the client library's checks and types, and the CLI commands are
 * derived from this table. Workflow code imports only types from here, and its run-time values from `portal-kinds.ts`.
 */
import { z } from 'zod';
import { email, filledText, isoDate, oneOf, reasonSchema, text } from '../fields.ts';
import { byPortalKind, contentOf, type PORTAL_KINDS, type PortalActionKind } from './portal-kinds.ts';

interface PortalActionDefinition<Kind extends PortalActionKind> {
  /** The end of its route: `/v1/orders/:orderId/<path>`. */
  path: string;
  summary: string;
  /** Additional documentation. */
  more?: string;
  schema: z.ZodObject<Record<keyof (typeof PORTAL_KINDS)[Kind]['fields'], z.ZodType>>;
  example: Record<string, string>;
  /** The field that is an argument of the CLI command instead of an option. */
  argument?: { name: string; field: string };
}

const transactionId = z
  .guid('must be the id of a transaction')
  .exactOptional()
  .meta({ description: "One of the order's transactions. Default: the newest" });
const because = z.strictObject({
  reason: reasonSchema.exactOptional().meta({ description: "The reason; stored in the order's history" }),
  transactionId,
});

export const PORTAL_ACTION_TABLE = {
  cancel: {
    path: 'cancel',
    summary: 'Cancel the transaction with the screening service, within the cancel window',
    schema: because,
    example: { reason: 'the customer asked' },
  },
  'report-fraud': {
    path: 'report-fraud',
    summary: "Ask the screening service's analysts to look at the transaction as fraud",
    schema: because,
    example: { reason: 'the card holder called' },
  },
  chargeback: {
    path: 'chargebacks',
    summary: 'Submit a chargeback',
    more: 'It is never sent twice automatically: when the outcome of the first is unknown, look in the portal, then use `force`.',
    schema: z.strictObject({
      reason_code: filledText(128).meta({ description: 'The reason code of the chargeback' }),
      due_date: isoDate().meta({ description: 'The last day for documents, YYYY-MM-DD' }),
      notice_date: isoDate().exactOptional().meta({ description: 'The day of the notice, YYYY-MM-DD' }),
      reference_number: text(4_096)
        .exactOptional()
        .meta({ description: 'The reference number of the chargeback' }),
      carrier: text(4_096).exactOptional().meta({ description: 'The shipping carrier' }),
      carrier_tracking_number: text(4_096).exactOptional().meta({ description: 'The tracking number' }),
      notes: text(4_096).exactOptional().meta({ description: 'Anything else' }),
      inquiry: oneOf(['true', 'false'])
        .exactOptional()
        .meta({ description: 'An inquiry, not a chargeback yet' }),
      force: z.boolean('must be true or false').exactOptional().meta({
        description:
          'Send it even if an earlier attempt may have succeeded, or the transaction is neither `pass` nor `fraudulent`',
      }),
      transactionId,
    }),
    example: { reason_code: '10.4', due_date: '2030-01-31', notes: 'goods not received' },
  },
  'customer-code': {
    path: 'customer-code',
    summary: 'Attach the customer code of a phone order',
    schema: z.strictObject({
      customerCode: filledText(128).meta({ description: 'The customer code' }),
      email: email()
        .exactOptional()
        .meta({ description: "The customer's e-mail. Default: the order's; required once it is closed" }),
      transactionId,
    }),
    example: { customerCode: '4711', email: 'pass@example.com' },
    argument: { name: 'code', field: 'customerCode' },
  },
} as const satisfies { [Kind in PortalActionKind]: PortalActionDefinition<Kind> };

export type PortalRequests = {
  [Kind in PortalActionKind]: z.infer<(typeof PORTAL_ACTION_TABLE)[Kind]['schema']>;
};

/** The same table, typed for code that handles any kind. */
export const portalDefinition: (kind: PortalActionKind) => Omit<PortalActionDefinition<never>, 'schema'> & {
  schema: z.ZodObject<Record<string, z.ZodType>>;
} = (kind) => PORTAL_ACTION_TABLE[kind];

const partsOf = byPortalKind((kind) => {
  const fields = Object.entries(portalDefinition(kind).schema.shape);
  const content = contentOf(kind);
  const part = (isContent: boolean) =>
    z.strictObject(Object.fromEntries(fields.filter(([name]) => content.includes(name) === isContent)));
  return { content: part(true), own: part(false) };
});
/** The fields that the screening service gets. */
export const portalContentSchema = (kind: PortalActionKind) => partsOf[kind].content;
/** The fields that the order uses itself. */
export const portalOwnSchema = (kind: PortalActionKind) => partsOf[kind].own;
