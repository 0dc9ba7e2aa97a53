/** Ten thousand messages for one order: the right decision, few status calls, and an order that goes on. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { reviewHintSignal } from '../../../src/contract/messages.ts';
import { eventually, someAtATime, withTestServer } from '../../support/index.ts';
import { WEBHOOK_SECRET, withDeployment } from '../support.ts';

const MANY = 10_000;
const MOST_CALLS = 300;
const AT_A_TIME = 60;
const HINT = { source: 'webhook', receivedAt: new Date().toISOString() } as const;
const HANGS = { timeoutMs: 120_000, intervalMs: 500 };

/** `TIMEOUT_TYPE_START_TO_CLOSE` of Temporal's API. */
const START_TO_CLOSE = 1;
/** `WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND` of Temporal's API. */
const UNHANDLED_COMMAND = 1;

const server = withTestServer();
const all = withDeployment(server, { default: { poll: { first: '1h', factor: 1, max: '1h' } } });

const times = (count: number, act: (index: number) => Promise<void>) =>
  someAtATime(AT_A_TIME, Array(count).keys(), act);

const handleOf = (orderId: string) => server.client.workflow.getHandle(`order:default:${orderId}`);

/** The order has the decision, after few calls, and takes another message. */
async function isRight(orderId: string): Promise<void> {
  await eventually(
    async () => expect(await all.read(orderId)).toMatchObject({ decision: 'pass', action: 'proceed' }),
    HANGS,
  );
  expect(all.requests('status-by-url', orderId).length).toBeLessThan(MOST_CALLS);
  const canceled = await all.call('POST', `/v1/orders/${orderId}/cancel`, { reason: 'goes on' });
  expect(canceled).toMatchObject({ status: 200, body: { status: 'done' } });
}

/** What others may send: true or false, in either form, each twice. */
function webhookBodies(orderId: string, transactionId: string): string[] {
  const bodies = [
    `{"id":https://service.example/transaction/${transactionId},"decision":review,"invoiceNumber":${orderId}}`,
    JSON.stringify({ id: transactionId, decision: 'fraudulent', invoiceNumber: orderId }),
    JSON.stringify({ id: transactionId, decision: 'pass', invoiceNumber: `#${orderId}` }),
    JSON.stringify({ id: randomUUID(), decision: 'fail', invoiceNumber: orderId }),
    JSON.stringify({ decision: 'fail', invoiceNumber: orderId }),
    JSON.stringify({ id: transactionId, decision: 'fail' }),
  ];
  return bodies.flatMap((body) => [body, body]);
}

it('webhooks, by three API processes', async () => {
  const orderId = await all.inReview();
  const bodies = webhookBodies(orderId, (await all.read(orderId)).transactions[0].id);
  const urls = [all.apiUrl, (await all.startApi()).url, (await all.startApi()).url];
  const statuses = new Set<number>();
  await times(MANY, async (index) => {
    // Others are screened as ever.
    if (index === 500) await all.inReview();
    if (index === MANY / 2) all.sandbox.control.decide(orderId, 'pass');
    const url = `${urls[index % urls.length]}/v1/webhooks/default/${WEBHOOK_SECRET}`;
    const response = await fetch(url, { method: 'POST', body: bodies[index % bodies.length] ?? '' });
    await response.arrayBuffer();
    statuses.add(response.status);
  });
  expect([...statuses]).toEqual([202]);
  await isRight(orderId);
  const { events } = await handleOf(orderId).fetchHistory();
  // Reads are 2 s, 4 s, 8 s, … apart, whatever is sent.
  expect(events?.length).toBeLessThan(250);
}, 300_000);

it('signals, while no worker runs', async () => {
  const orderId = await all.inReview();
  await all.worker().stop();
  all.sandbox.control.decide(orderId, 'pass');
  // A run takes at most 2,000, and refuses the rest.
  await times(MANY, () =>
    handleOf(orderId)
      .signal(reviewHintSignal, HINT)
      .catch((error: unknown) => {
        expect(String((error as Error).cause)).toContain('limit for signal events');
      }),
  );
  const { runId } = await handleOf(orderId).describe();
  await all.startWorker();
  await isRight(orderId);
  const { events = [] } = await server.client.workflow
    .getHandle(`order:default:${orderId}`, runId)
    .fetchHistory();
  // The task that waited for the worker that is gone is handed to another one. One whose run was to end when something arrived is
  // repeated by the server.
  const failed = events?.filter(
    ({ workflowTaskFailedEventAttributes: failure, workflowTaskTimedOutEventAttributes: timeOut }) =>
      failure ? failure.cause !== UNHANDLED_COMMAND : timeOut?.timeoutType === START_TO_CLOSE,
  );
  expect(failed).toEqual([]);
  // What ten thousand signals add to the history is themselves.
  const others = events?.filter((event) => !event.workflowExecutionSignaledEventAttributes);
  expect(others?.length).toBeLessThan(40);
}, 300_000);
