// `node --import ./bin/typescript.mjs tools/queue-page/main.ts [orders]`: how long the queue page takes with so many open orders, 20,000 unless
// said. They are started on a dev server without a worker, with the search attributes of orders in review.
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Client, Connection } from '@temporalio/client';
import { createApi } from '../../src/api/create-api.ts';
import { loadClientSettings } from '../../src/config/index.ts';
import { orderWorkflowId, TASK_QUEUE } from '../../src/contract/ids.ts';
import { SCREEN_ORDER } from '../../src/contract/messages.ts';
import { startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { orderAttributes } from '../../src/orders/describe.ts';
import { localEnvironment } from '../../src/process/local.ts';
import { createLog } from '../../src/process/log.ts';
import { createOrderScreening } from '../../src/starter.ts';

const ORDERS = Number(process.argv[2] ?? 20_000);
const AT_A_TIME = 16;
const TIMES = 20;
const HOUR_MS = 3_600_000;
const INTEGRATIONS = ['default', 'shop', 'outlet', 'weekend'] as const;
const LOOKED_FOR = 'order-777';

const { findIntegration } = loadClientSettings(localEnvironment({}).env);

const server = await startEmbeddedTemporal({ port: 0 });
try {
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  await makeOrders(client);
  const orderScreening = createOrderScreening({
    client,
    findIntegration: () => findIntegration('default'),
  });
  const app = await createApi({
    orderScreening,
    apiKeys: { current: [] },
    maxRps: 1_000,
    integrations: INTEGRATIONS,
    webhookSecrets: [],
    log: createLog('queue-page', 'error'),
  });
  const address = await app.listen({ port: 0 });
  const found = await fetch(`${address}/?q=${LOOKED_FOR}`).then((page) => page.text());
  if (!found.includes(`>${LOOKED_FOR}</a>`)) throw new Error('the order is not found');
  for (const path of [
    '/',
    `/?q=${LOOKED_FOR}`,
    '/?show=review&amount-from=500&within=48',
    '/?show=any&decision=review',
    '/?show=any&integration=shop',
    '/days',
  ]) {
    await measure(`${address}${path}`, path);
  }
  await app.close();
  await connection.close();
} finally {
  await server.stop();
}

async function measure(url: string, path: string): Promise<void> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const began = performance.now();
    const answer = await fetch(url);
    await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`);
    times.push(performance.now() - began);
  }
  const sorted = times.sort((a, b) => a - b).map(Math.round);
  console.log(
    `${path.padEnd(45)} median ${sorted[TIMES / 2]} ms, slowest ${sorted[TIMES - 1]} ms of ${TIMES}`,
  );
}

async function makeOrders(client: Client): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    for (let number = next++; number < ORDERS; number = next++) await start(client, number);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, one));
  for (let count = 0; count < ORDERS; ) {
    ({ count } = await client.workflow.count(`WorkflowType = '${SCREEN_ORDER}'`));
  }
  console.log(`${ORDERS} open orders`);
}

async function start(client: Client, number: number): Promise<void> {
  const integration = INTEGRATIONS[number % INTEGRATIONS.length] ?? 'default';
  const orderId = `order-${number}`;
  const pair = <Key, Value>(key: Key, value: Value) => ({ key, value });
  await client.workflow.start(SCREEN_ORDER, {
    workflowId: orderWorkflowId(integration, orderId),
    taskQueue: TASK_QUEUE,
    args: [],
    typedSearchAttributes: [
      pair(orderAttributes.phase, 'review'),
      pair(orderAttributes.decision, 'review'),
      pair(orderAttributes.action, 'hold'),
      pair(orderAttributes.integration, integration),
      pair(orderAttributes.invoiceNumber, [orderId]),
      pair(orderAttributes.transactionId, [randomUUID()]),
      pair(orderAttributes.cancelBy, new Date(Date.now() + ((number * 7919) % 120_000) * (HOUR_MS / 1_000))),
      pair(orderAttributes.needsAttention, number % 20 === 0),
      pair(orderAttributes.amount, (number % 1_000) + 0.5),
    ],
  });
}
