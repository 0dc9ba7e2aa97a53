import { z } from 'zod';
import { email, filledText, isoDate, oneOf } from './fields.ts';

/** The body of `POST /gateway_response`, in definition spelling: what the payment gateway said, in the service's words. */
export interface GatewayResponseBody {
  'nf-token': string;
  /** The id of the response to the initial transaction. */
  'nf-id': string;
  'gateway-response': { result: 'pass' | 'fail' | 'error'; authcode?: string; 'transaction-id'?: string };
}

/** The fields of `POST /customer-code` beside the key. */
export const customerCodeBodySchema = z.strictObject({ customer_code: filledText(128), email: email() });

/** The fields of a chargeback, without the key and the transaction it belongs to ("Portal-action operations"). */
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
