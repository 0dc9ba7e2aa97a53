/** Requests to adopt an order. */
import { z } from 'zod';
import { refuseCardData } from '../../card-data/card-data.ts';
import { momentText, workflowSchema } from '../../contract/fields.ts';
import type { TransactionJson } from '../../contract/messages.ts';
import type { FindIntegration } from '../../contract/policy.ts';
import { GATEWAY_RESULTS, instant, millis } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { adoptionErrors } from '../../order/messages/check-messages.ts';
import {
  checked,
  integrationNameSchema,
  integrationOf,
  invalidRequest,
  notCardsFor,
  orderIdSchema,
} from '../read-requests.ts';

const AMOUNT = 'must be a number as text, such as 125.50';

/** The library's request to adopt; in HTTP the order's id is in the path. */
export const adoptSchema = z.strictObject({
  orderId: orderIdSchema,
  integration: integrationNameSchema.exactOptional(),
  transactionId: z.guid('must be the id of a transaction'),
  screenedAt: momentText,
  workflow: workflowSchema.exactOptional(),
  amount: z
    .string(AMOUNT)
    .regex(/^(?=.{1,24}$)(?:\d+\.?\d*|\.\d+)$/, AMOUNT)
    .exactOptional(),
  gatewayResult: z
    .enum(GATEWAY_RESULTS, { error: `must be one of ${GATEWAY_RESULTS.join(', ')}` })
    .exactOptional(),
  force: z.boolean('must be true or false').exactOptional(),
});

export type CheckedAdoptRequest = ReturnType<typeof readAdoptRequest>;

/** @throws OrderScreeningError `unknown-integration`, `card-data-in-request`, or `invalid-request` with every error in `details.errors` */
export function readAdoptRequest(raw: unknown, findIntegration: FindIntegration) {
  refuseCardData(raw, { notCards: notCardsFor(raw, findIntegration) });
  const { orderId, integration: name, workflow: named, amount, ...rest } = checked(adoptSchema, raw);
  const adoption = { ...rest, screenedAt: instant(millis(rest.screenedAt)) };
  const integration = integrationOf({ findIntegration }, name);
  const workflow = named ?? integration.workflow;
  const fieldErrors = adoptionErrors(adoption, { ...integration, workflow }, Date.now());
  if (fieldErrors.length > 0) throw invalidRequest(fieldErrors);
  /** The known fields of the transaction: its amount, or none. */
  const transaction: TransactionJson = defined({ amount });
  return { orderId, integration, workflow, adoption, transaction };
}
