/** Publishes an order: search attributes, the record in the memo, the details in the Temporal UI, and metrics. */
import {
  metricMeter,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { OrderState } from '../contract/order/state.ts';
import type { Order } from '../order/order.ts';
import { currentAttempt } from '../order/record.ts';
import { recordOf } from '../order/view/bounded-record.ts';
import { describe } from '../order/view/describe.ts';
import { countAttention, counterOf } from '../order/view/metrics.ts';
import { writtenMemo } from '../order/view/order-memo.ts';
import { searchAttributesOf } from '../order/view/search-attributes.ts';

/**
 * @param order at its start, or after continue-as-new: then the previous run has written its memo, and counted its decision and attention
 * @returns a function that publishes the changes since its last call
 */
export function showing(order: Order): () => void {
  const shown = new Map<string, string>();
  const memo = writtenMemo();
  let counted = countedOf(order.state);
  if (workflowInfo().continuedFromExecutionRunId !== undefined) memo(recordOf(order.state));
  return () => {
    const changed = searchAttributesOf(order).filter(({ key, value }) => {
      const text = JSON.stringify(value);
      if (shown.get(key.name) === text) return false;
      shown.set(key.name, text);
      return true;
    });
    if (changed.length > 0) upsertSearchAttributes(changed);
    const news = memo(recordOf(order.state));
    if (news !== undefined) upsertMemo(news);
    setCurrentDetails(describe(order.state));
    count(order.state, counted);
    counted = countedOf(order.state);
  };
}

function countedOf({ decision, attention }: OrderState) {
  return { decision, codes: attention.map(({ code }) => code) };
}

/** Metrics are not commands: they are not recorded in the history, and a replay counts nothing. */
function count(state: OrderState, before: ReturnType<typeof countedOf>): void {
  const { integration, decision } = state;
  if (decision !== before.decision && decision !== 'pending') {
    const source = currentAttempt(state).readings.at(-1)?.source ?? 'checkout';
    const decisions = counterOf(metricMeter, 'order_screening_decisions_total');
    decisions.add(1, { integration, decision, source });
  }
  for (const reason of countedOf(state).codes) {
    if (before.codes.includes(reason)) continue;
    countAttention(metricMeter, integration, reason);
  }
}
