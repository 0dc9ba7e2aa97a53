/** An order that has ended and whose workflow id is started again with its stored start, as the Temporal UI offers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SCREEN_ORDER } from '../../src/contract/messages.ts';
import { withTestServer } from '../support/index.ts';
import { untilEnded } from './operator.ts';
import { anOrderId, withDeployment } from './support.ts';

const server = withTestServer();
const all = withDeployment(server, { default: { workflow: 'post-acceptance', checkoutBudget: '500ms' } });
/** The budget and 2 s. */
const ANSWERED_WITHIN_MS = 2_500;

it('creates no second transaction, and its record stays', async () => {
  const { client } = server;
  const orderId = anOrderId();
  await all.screen(orderId, 'review');
  await all.call('POST', `/v1/orders/${orderId}/override`, { action: 'proceed', reason: 'a known customer' });
  all.sandbox.control.decide(orderId, 'fail');
  await all.call('POST', `/v1/orders/${orderId}/cancel`, { reason: 'the customer asked' });
  const workflowId = `order:default:${orderId}`;
  await untilEnded(client, workflowId);
  const before = await all.read(orderId);
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input ?? null;
  const { startedAt } = before;
  await sleep(Math.max(0, Date.parse(startedAt) + ANSWERED_WITHIN_MS - Date.now()));
  await client.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId,
    workflowType: { name: SCREEN_ORDER },
    taskQueue: { name: 'order-screening' },
    input,
    requestId: 'again',
    workflowIdReusePolicy: 1,
  });
  await untilEnded(client, workflowId);
  expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
  expect(await all.read(orderId)).toEqual(before);
});
