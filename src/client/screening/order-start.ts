/** Start options of an order, for checkouts and adoptions. */
import { vouchedFor } from '../../card-data/card-data.ts';
import { orderWorkflowId, TASK_QUEUE } from '../../contract/ids.ts';
import type { ScreenOrderInput, TransactionJson } from '../../contract/messages.ts';
import type { Integration } from '../../contract/policy.ts';
import { VERSION } from '../../contract/version.ts';
import { type IntegrationWorkflow, instant } from '../../contract/words.ts';
import { currencyOf, orderFactsOf } from '../../order/order-rules.ts';
import { newOrderState } from '../../order/record.ts';
import { recordOf } from '../../order/view/bounded-record.ts';
import { searchAttributesAtStart } from '../../order/view/describe.ts';
import { memoOf } from '../../order/view/order-memo.ts';

export type OrderStart = ReturnType<typeof orderStart>;

/** Returns the start options of an order that must not exist yet. */
export function orderStart(
  integration: Integration,
  input: Omit<ScreenOrderInput, 'version' | 'integration'>,
  { workflow, invoiceNumber }: { workflow: IntegrationWorkflow; invoiceNumber: string },
) {
  const { name } = integration;
  const { orderId, adopt, transaction } = input;
  const { amount } = orderFactsOf(transaction);
  const order = { orderId, integration: name, workflow, adopt, transaction };
  const started = { version: VERSION, integration: name, ...input };
  const args: [ScreenOrderInput] = [vouchedFor(started, integration)];
  return {
    workflowId: orderWorkflowId(name, orderId),
    taskQueue: TASK_QUEUE,
    args,
    // A refused adoption leaves a failed workflow. Retrying is safe, since an adoption never creates a transaction.
    workflowIdReusePolicy: adopt ? ('ALLOW_DUPLICATE_FAILED_ONLY' as const) : ('REJECT_DUPLICATE' as const),
    staticSummary: startSummary(orderId, adopt ? 'adopted' : moneyOf(transaction), workflow),
    typedSearchAttributes: searchAttributesAtStart({ integration: name, invoiceNumber, amount }),
    // The order's first record, by this process's clock. A worker writes the next one.
    memo: memoOf(recordOf(newOrderState(order, instant(Date.now())))),
  };
}

/** Temporal's limit of a static summary, in bytes. */
const SUMMARY_BYTES = 200;

/** One line for lists in the Temporal UI, without personal data. */
function startSummary(orderId: string, what: string | undefined, workflow: string): string {
  const line = [`Order ${orderId}`, what, workflow].filter((part) => part !== undefined).join(', ');
  // Only the order id may have multi-byte characters, and it is well before the cut.
  return Buffer.from(line).subarray(0, SUMMARY_BYTES).toString('utf8');
}

/** Amount and currency of an order that policy skips are unchecked. */
function moneyOf(transaction: TransactionJson): string | undefined {
  const { amount } = orderFactsOf(transaction);
  const currency = currencyOf(transaction);
  return Number.isFinite(amount) && currency !== undefined ? `${amount} ${currency}` : undefined;
}
