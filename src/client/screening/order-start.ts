/** Start options of an order, for checkouts and adoptions. */
import type { SearchAttributePair } from '@temporalio/common';
import { vouchedFor } from '../../card-data/card-data.ts';
import { orderWorkflowId, TASK_QUEUE } from '../../contract/ids.ts';
import type { ScreenOrderInput } from '../../contract/messages.ts';
import type { Integration } from '../../contract/policy.ts';
import { VERSION } from '../../contract/version.ts';
import { type IntegrationWorkflow, instant } from '../../contract/words.ts';
import { newOrderState } from '../../order/record.ts';
import { recordOf } from '../../order/view/bounded-record.ts';
import { type KnownAtStart, searchAttributesAtStart } from '../../order/view/describe.ts';
import { memoOf } from '../../order/view/order-memo.ts';

export interface OrderStart {
  workflowId: string;
  taskQueue: string;
  args: [ScreenOrderInput];
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY';
  staticSummary: string;
  typedSearchAttributes: SearchAttributePair[];
  /** The order's first record, by this process's clock. A worker writes the next one. */
  memo: Record<string, unknown>;
}

/** Returns the start options of an order that must not exist yet. @param summary one line for lists in the Temporal UI */
export function orderStart(
  integration: Integration,
  input: Omit<ScreenOrderInput, 'version' | 'integration'>,
  {
    workflow,
    summary,
    ...known
  }: Omit<KnownAtStart, 'integration'> & { workflow: IntegrationWorkflow; summary: string },
): OrderStart {
  const { name } = integration;
  const { orderId, adopt, transaction } = input;
  const state = newOrderState(
    { orderId, integration: name, workflow, adopt, transaction },
    instant(Date.now()),
  );
  return {
    workflowId: orderWorkflowId(name, orderId),
    taskQueue: TASK_QUEUE,
    args: [vouchedFor({ version: VERSION, integration: name, ...input }, integration)],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    staticSummary: summary,
    typedSearchAttributes: searchAttributesAtStart({ integration: name, ...known }),
    memo: memoOf(recordOf(state)),
  };
}
