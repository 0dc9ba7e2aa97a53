/** The fields of an order's own transaction that the policy shows to people. Read from the workflow's input, stored nowhere else. */
import { z } from 'zod';
import { orderOfWorkflowId } from '../../contract/ids.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import { type Shown, shownSchema } from '../../contract/order/shown.ts';
import type { ClientContext } from '../types.ts';
import { inputOf } from './decode.ts';
import type { DescribedOrder } from './describe-order.ts';

/** Returns the record with these fields. Without them if the integration shows none, or if the input can't be read. */
export async function withShown(
  context: ClientContext,
  run: DescribedOrder,
  record: OrderRecord,
): Promise<OrderRecord> {
  const fields = context.findIntegration(orderOfWorkflowId(run.workflowId)?.integration ?? '')?.shown ?? [];
  if (fields.length === 0) return record;
  const input = await inputOf(context, run).catch(() => undefined);
  const shown = shownIn(input, fields);
  return shown === undefined ? record : { ...record, shown };
}

const transactionSchema = z.looseObject({
  customer: z.object({ email: z.unknown() }).partial().optional(),
  billTo: z.looseObject({ firstName: z.unknown(), lastName: z.unknown() }).partial().optional(),
});
/** After continue-as-new the order's state has the transaction of its newest attempt. */
const inputSchema = z.object({
  transaction: transactionSchema,
  resume: z
    .object({
      asked: z.object({ transaction: transactionSchema }),
      state: z.object({ attempts: z.array(z.unknown()) }),
    })
    .optional(),
});

function shownIn(input: unknown, fields: readonly string[]): Shown | undefined {
  const read = inputSchema.safeParse(input).data;
  if (read === undefined) return undefined;
  const { transaction } = read.resume?.asked ?? read;
  const attempt = read.resume?.state.attempts.length ?? 1;
  const { customer, billTo, shipTo, avsResultCode, cvvResultCode, lineItems } = transaction;
  const name = [billTo?.firstName, billTo?.lastName].filter(Boolean).join(' ') || undefined;
  const all = { name, email: customer?.email, billTo, shipTo, avs: avsResultCode, cvv: cvvResultCode };
  const allowed = Object.entries({ ...all, items: lineItems }).filter(
    ([field, value]) => fields.includes(field) && value !== undefined,
  );
  // The schema drops everything that it doesn't name.
  return shownSchema.safeParse({ attempt, ...Object.fromEntries(allowed) }).data;
}
