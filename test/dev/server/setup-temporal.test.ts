import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { orderAttributes, orderSearchAttributes } from '../../../src/order/view/search-attributes.ts';
import {
  missingSearchAttributes,
  setupTemporal,
  type TemporalServices,
} from '../../../src/platform/namespace.ts';
import { createOrderScreening } from '../../../src/starter.ts';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { eventually, freePort, spawnForTest, withTestServer } from '../../support/index.ts';

const server = withTestServer();
const everyName = orderSearchAttributes.map(({ name }) => name);

/** A namespace of its own, without the search attributes of orders. */
async function freshNamespace(): Promise<string> {
  const namespace = `setup-${crypto.randomUUID()}`;
  const { workflowService } = server.connection;
  const { config } = await workflowService.describeNamespace({ namespace: 'default' });
  const workflowExecutionRetentionPeriod = config?.workflowExecutionRetentionTtl ?? null;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  await eventually(() => missingSearchAttributes(server.connection, namespace));
  return namespace;
}

/** The server as Temporal Cloud shows itself: without the operator service. */
function withoutOperatorService(): TemporalServices {
  const error = Object.assign(new Error('12 UNIMPLEMENTED'), { code: 12, details: '', metadata: {} });
  const refused = { value: () => Promise.reject(error) };
  const { workflowService, operatorService } = server.connection;
  const without = { listSearchAttributes: refused, addSearchAttributes: refused };
  return { workflowService, operatorService: Object.create(operatorService, without) };
}

test('the set-up can be done again, and twice at once; then a workflow with every search attribute starts', async () => {
  const namespace = await freshNamespace();
  const setUp = () => setupTemporal(server.connection, namespace);
  await Promise.all([setUp(), setUp()]);
  const client = new Client({ connection: server.connection, namespace });
  const handle = await client.workflow.start('anything', {
    workflowId: 'with-search-attributes',
    taskQueue: 'nobody',
    typedSearchAttributes: [
      { key: orderAttributes.phase, value: 'screening' },
      { key: orderAttributes.invoiceNumber, value: ['1001'] },
      { key: orderAttributes.cancelBy, value: new Date() },
      { key: orderAttributes.needsAttention, value: false },
      { key: orderAttributes.amount, value: 10.5 },
    ],
  });
  const { typedSearchAttributes } = await handle.describe();
  expect(typedSearchAttributes.get(orderAttributes.amount)).toBe(10.5);
  expect(typedSearchAttributes.get(orderAttributes.invoiceNumber)).toEqual(['1001']);
  expect(await setUp()).toEqual([]);
});

test('a client in a namespace without the search attributes is told so by a checkout, and by a list', async () => {
  const client = new Client({ connection: server.connection, namespace: await freshNamespace() });
  const orders = createOrderScreening({ client, findIntegration: finding(anIntegration()) });
  const words = { code: 'temporal-unavailable', message: expect.stringContaining('npm run setup:temporal') };
  const transaction = aTransaction();
  await expect(orders.screen({ orderId: '1001', transaction })).rejects.toMatchObject(words);
  await expect(orders.list({ phase: 'review' })).rejects.toMatchObject(words);
});

test('a search attribute with another type counts as missing, and the set-up names it', async () => {
  const namespace = await freshNamespace();
  const { operatorService } = server.connection;
  await operatorService.addSearchAttributes({ namespace, searchAttributes: { OrderAmount: 2 } });
  await eventually(async () => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return 'OrderAmount' in customAttributes;
  });
  expect(await missingSearchAttributes(server.connection, namespace)).toContain('OrderAmount');
  await expect(setupTemporal(server.connection, namespace)).rejects.toThrow(/OrderAmount \(DOUBLE\)/);
});

test('without an operator service a missing attribute is still found, and the set-up says where to add it', async () => {
  const namespace = await freshNamespace();
  const cloud = withoutOperatorService();
  expect(await missingSearchAttributes(server.connection, namespace)).toEqual(everyName);
  expect(await missingSearchAttributes(cloud, namespace)).toEqual(everyName);
  await expect(setupTemporal(cloud, namespace)).rejects.toThrow(/CancelBy \(DATETIME\).*Temporal Cloud/);
  await setupTemporal(server.connection, namespace);
  await eventually(async () => (await missingSearchAttributes(cloud, namespace)).length === 0);
});

const runScript = (env: NodeJS.ProcessEnv) =>
  spawnForTest('src/platform/setup-temporal.ts', { env: { TEMPORAL_ADDRESS: server.address, ...env } });

test('npm run setup:temporal makes a namespace that does not exist, with the retention of orders', async () => {
  const namespace = 'made-by-setup';
  const script = await runScript({ TEMPORAL_NAMESPACE: namespace });
  expect(await script.ended).toBe(0);
  expect(script.output()).toContain(`Namespace "${namespace}" was created.`);
  expect(script.output()).toContain(`Namespace "${namespace}" is set up for orders.`);
  expect(await missingSearchAttributes(server.connection, namespace)).toEqual([]);
  const { config } = await server.connection.workflowService.describeNamespace({ namespace });
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(90 * 24 * 3600);
});

const nowhere = `127.0.0.1:${await freePort()}`;
test.each([
  [{ TEMPORAL_NAMESPACE: 'a-name'.repeat(200) }, 'Namespace length'],
  [{ TEMPORAL_ADDRESS: nowhere }, `Temporal doesn't answer at ${nowhere}`],
  [{ WORKER_BUILD_ID: 'v1' }, 'WORKER_DEPLOYMENT_NAME: is required with WORKER_BUILD_ID'],
])('npm run setup:temporal fails with %j, and says why', async (env, words) => {
  const script = await runScript(env);
  expect(await script.ended).toBe(1);
  expect(script.output()).toContain(words);
});
