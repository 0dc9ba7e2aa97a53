import { z } from 'zod';
import { email, filledText, isoDate, oneOf } from './fields.ts';

/** The bodies of gateway-response and of the four portal actions, in definition spelling. */

const key = z.string().min(1, 'must be the API key');

/** What the payment gateway said, in the service's words ("GatewayResponseBody"). */
export const gatewayResultSchema = z.strictObject({
  result: oneOf(['pass', 'fail', 'error']),
  authcode: z.string().exactOptional(),
  'transaction-id': z.string().exactOptional(),
});

/** The body of `POST /gateway_response`. */
export const gatewayResponseBodySchema = z.strictObject({
  'nf-token': key,
  'nf-id': z.guid('must be the id of the response to the initial transaction'),
  'gateway-response': gatewayResultSchema.exactOptional(),
});
export type GatewayResponseBody = z.infer<typeof gatewayResponseBodySchema>;

/** The body of `POST /customer-code`. */
export const customerCodeBodySchema = z.strictObject({
  nf_token: key,
  customer_code: filledText(128),
  email: email(),
});

/** The body of `POST /report-fraud` and of `POST /cancel-transaction`. */
export const transactionActionBodySchema = z.strictObject({
  nf_token: key,
  transaction_id: filledText(128),
});

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

/** The body of `POST /submit-chargeback`. */
export const chargebackBodySchema = transactionActionBodySchema.extend(chargebackSchema.shape);
