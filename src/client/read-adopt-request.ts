/** Reads a request to adopt an order. */
import { z } from 'zod';
import { momentText, workflowSchema } from '../contract/fields.ts';
import { withoutHash } from '../contract/ids.ts';
import type { TransactionJson } from '../contract/messages.ts';
import type { FindIntegration } from '../contract/policy.ts';
import { GATEWAY_RESULTS, instant, millis } from '../contract/words.ts';
import { defined } from '../order/defined.ts';
import { adoptionErrors } from '../order/messages/check-messages.ts';
import { invoiceNumber } from '../screening-service/index.ts';
import {
  checked,
  integrationNameSchema,
  invalidRequest,
  openedRequest,
  orderIdSchema,
} from './read-requests.ts';

const CURRENCY = 'must be a currency code of three letters, such as EUR';
const currency = z
  .string(CURRENCY)
  .regex(/^[A-Za-z]{3}$/, CURRENCY)
  .toUpperCase()
  .optional();

const AMOUNT = 'must be a number as text, such as 125.50';

/** The library's request to adopt; in HTTP the order's id is in the path. */
export const adoptSchema = z.strictObject({
  orderId: orderIdSchema,
  integration: integrationNameSchema.optional(),
  transactionId: z.guid('must be the id of a transaction'),
  screenedAt: momentText,
  workflow: workflowSchema.optional(),
  // Under which the other system sent the transaction.
  invoiceNumber: z.string({ error: 'must be text' }).transform(withoutHash).pipe(invoiceNumber).optional(),
  amount: z
    .string(AMOUNT)
    .regex(/^(?=.{1,24}$)(?:\d+\.?\d*|\.\d+)$/, AMOUNT)
    .optional(),
  // In either spelling, as in a transaction.
  currencyCode: currency,
  currency_code: currency,
  gatewayResult: z.enum(GATEWAY_RESULTS).optional(),
  force: z.boolean('must be true or false').optional(),
});

export type CheckedAdoptRequest = ReturnType<typeof readAdoptRequest>;

/** @throws OrderScreeningError `unknown-integration`, `card-data-in-request`, or `invalid-request` with every error in `details.errors` */
export function readAdoptRequest(raw: unknown, findIntegration: FindIntegration) {
  const { integration } = openedRequest(raw, findIntegration, []);
  const { orderId, integration: _name, workflow: named, ...given } = checked(adoptSchema, raw);
  const { invoiceNumber: number, amount, currencyCode, currency_code = currencyCode, ...rest } = given;
  const adoption = { ...defined(rest), screenedAt: instant(millis(rest.screenedAt)) };
  const workflow = named ?? integration.workflow;
  const fieldErrors = adoptionErrors(adoption, { ...integration, workflow }, Date.now());
  if (currencyCode !== undefined && currencyCode !== currency_code)
    fieldErrors.push({ path: 'currencyCode', message: 'differs from currency_code: specify it once' });
  if (fieldErrors.length > 0) throw invalidRequest(fieldErrors);
  const order = number === undefined ? undefined : { invoiceNumber: number };
  /** The known fields of the transaction: its amount, its currency and its own invoice number, or none. */
  const transaction: TransactionJson = defined({ amount, currency_code, order });
  return { orderId, integration, workflow, adoption, transaction, invoiceNumber: number ?? orderId };
}
