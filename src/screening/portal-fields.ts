/** The fields of the portal actions. */
import { z } from 'zod';
import { email, filledText, isoDate, oneOf } from './fields.ts';
import { type Fault, schemaFindings } from './findings.ts';
import { toDefinitionSpelling } from './spellings.ts';

/** The body of `POST /gateway_response`, in definition spelling: what the payment gateway said, in the service's words. */
export interface GatewayResponseBody {
  'nf-token': string;
  /** The id of the response to the initial transaction. */
  'nf-id': string;
  'gateway-response': { result: 'pass' | 'fail' | 'error'; authcode?: string; 'transaction-id'?: string };
}

/** The fields of `POST /customer-code` beside the key. */
export const customerCodeBodySchema = z.strictObject({ customer_code: filledText(128), email: email() });

/** The fields of a chargeback, without the key and the transaction it belongs to. */
export const chargebackSchema = z.strictObject({
  reason_code: filledText(128),
  due_date: isoDate(),
  notice_date: isoDate().exactOptional(),
  reference_number: z.string().exactOptional(),
  carrier: z.string().exactOptional(),
  carrier_tracking_number: z.string().exactOptional(),
  notes: z.string().exactOptional(),
  inquiry: oneOf(['true', 'false']).exactOptional(),
});
export type Chargeback = z.infer<typeof chargebackSchema>;

export type ParsedChargeback = { ok: true; chargeback: Chargeback } | { ok: false; faults: Fault[] };

/**
 * Reads the fields of a chargeback in either spelling, without key and transaction id.
 * Lists every fault at once, with no value that was sent.
 */
export function parseChargeback(input: unknown): ParsedChargeback {
  const { value, findings, shownPath } = toDefinitionSpelling(chargebackSchema, input);
  const parsed = chargebackSchema.safeParse(value);
  const all = [...findings, ...(parsed.success ? [] : schemaFindings(parsed.error, value))];
  if (parsed.success && all.length === 0) return { ok: true, chargeback: parsed.data };
  return { ok: false, faults: all.map(({ path, message }) => ({ path: shownPath(path), message })) };
}
