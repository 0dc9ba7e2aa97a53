/** An order that has ended and whose workflow id is started again with its stored start, as the Temporal UI offers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PORTAL_ACTION, SCREEN_ORDER } from '../../../src/contract/messages.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { untilEnded } from '../operator.ts';
import { anOrderId, withDeployment } from '../support.ts';

const server = withTestServer();
const all = withDeployment(server, { default: { workflow: 'post-acceptance', checkoutBudget: '500ms' } });
/** The budget and 2 s. */
const ANSWERED_WITHIN_MS = 2_500;

/** Starts the workflow again with its stored input, and waits for its end. */
async function startAgain(workflowId: string, type: string): Promise<void> {
  const { client } = server;
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  await client.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId,
    workflowType: { name: type },
    taskQueue: { name: 'order-screening' },
    input: events?.[0]?.workflowExecutionStartedEventAttributes?.input ?? null,
    requestId: 'again',
    workflowIdReusePolicy: 1,
  });
  await untilEnded(client, workflowId);
}

it('creates no second transaction, and its record stays', async () => {
  const { client } = server;
  const orderId = anOrderId();
  await all.screen(orderId, 'review');
  await all.call('POST', `/v1/orders/${orderId}/override`, { action: 'proceed', reason: 'a known customer' });
  all.sandbox.control.decide(orderId, 'fail');
  await all.call('POST', `/v1/orders/${orderId}/cancel`, { reason: 'the customer asked' });
  const workflowId = `order:default:${orderId}`;
  await untilEnded(client, workflowId);
  // The fail is read after the end, and its event may still be on its way.
  const recordOf = async () => {
    const { afterEnd: _, ...record } = await all.read(orderId);
    return record;
  };
  const before = await recordOf();
  const { startedAt } = before;
  await sleep(Math.max(0, Date.parse(startedAt) + ANSWERED_WITHIN_MS - Date.now()));
  await startAgain(workflowId, SCREEN_ORDER);
  expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
  expect(await recordOf()).toEqual(before);
});

it.each([
  ['was done', 'Completed', [], 200],
  [
    'had no known outcome',
    'Failed',
    [{ operation: 'submit-chargeback', kind: '5xx-after-commit', times: 1 }],
    502,
  ],
] as const)(
  'submits no second chargeback, when the workflow of one after the end that %s is started again',
  async (_how, end, faults, answer) => {
    const orderId = anOrderId();
    await all.screen(orderId, 'pass');
    await all.call('POST', `/v1/orders/${orderId}/cancel`, { reason: 'the customer asked' });
    await untilEnded(server.client, `order:default:${orderId}`);
    all.sandbox.control.setFaults({ faults: [...faults] });
    const chargeback = { reason_code: '10.4', due_date: '2034-01-31' };
    const { status } = await all.call('POST', `/v1/orders/${orderId}/chargebacks`, chargeback);
    expect(status).toBe(answer);
    const [transaction] = all.sandbox.control.transactions(orderId);
    const query = `WorkflowId STARTS_WITH 'portal:default:chargeback:${transaction?.id}' AND ExecutionStatus = '${end}'`;
    const workflowId = await eventually(async () => {
      for await (const found of server.client.workflow.list({ query })) return found.workflowId;
      throw new Error('not listed yet');
    });
    await startAgain(workflowId, PORTAL_ACTION);
    expect(all.sandbox.control.transactions(orderId)[0]?.chargebacks).toHaveLength(1);
  },
);
