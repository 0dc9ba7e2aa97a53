/** Start options of an order, for checkouts and adoptions. */
import { vouchedFor } from '../../card-data/card-data.ts';
import { orderWorkflowId, TASK_QUEUE } from '../../contract/ids.ts';
import type { ScreenOrderInput } from '../../contract/messages.ts';
import type { Integration } from '../../contract/policy.ts';
import { VERSION } from '../../contract/version.ts';
import { type IntegrationWorkflow, instant } from '../../contract/words.ts';
import { currencyOf, orderFactsOf } from '../../order/order-rules.ts';
import { newOrderState } from '../../order/record.ts';
import { recordOf } from '../../order/view/bounded-record.ts';
import { memoOf } from '../../order/view/order-memo.ts';
import { searchAttributesAtStart } from '../../order/view/search-attributes.ts';

export type OrderStart = ReturnType<typeof orderStart>;

/** Temporal's limit of a static summary, in bytes. */
const SUMMARY_BYTES = 200;

/** Returns the start options of an order that must not exist yet. */
export function orderStart(
  integration: Integration,
  input: Omit<ScreenOrderInput, 'version' | 'integration'>,
  { workflow, invoiceNumber }: { workflow: IntegrationWorkflow; invoiceNumber: string },
) {
  const { name } = integration;
  const { orderId, adopt, transaction } = input;
  const { amount } = orderFactsOf(transaction);
  const currency = currencyOf(transaction, adopt !== undefined);
  // Amount and currency of an order that policy skips are unchecked.
  const money = Number.isFinite(amount) && currency !== undefined ? `${amount} ${currency}` : undefined;
  const summary = [`Order ${orderId}`, adopt ? 'adopted' : (money ?? []), workflow].flat().join(', ');
  const order = { orderId, integration: name, workflow, adopt, transaction };
  const started = { version: VERSION, integration: name, ...input };
  const args: [ScreenOrderInput] = [vouchedFor(started, integration)];
  return {
    workflowId: orderWorkflowId(name, orderId),
    taskQueue: TASK_QUEUE,
    args,
    // A refused adoption leaves a failed workflow. Retrying is safe, since an adoption never creates a transaction.
    workflowIdReusePolicy: adopt ? ('ALLOW_DUPLICATE_FAILED_ONLY' as const) : ('REJECT_DUPLICATE' as const),
    // One line for lists in the Temporal UI, without personal data. Only the order id may have multi-byte characters, and it is well
    // before the cut.
    staticSummary: Buffer.from(summary).subarray(0, SUMMARY_BYTES).toString('utf8'),
    typedSearchAttributes: searchAttributesAtStart({ integration: name, invoiceNumber, amount }),
    // The order's first record, by this process's clock. A worker writes the next one.
    memo: memoOf(recordOf(newOrderState(order, instant(Date.now())))),
  };
}
