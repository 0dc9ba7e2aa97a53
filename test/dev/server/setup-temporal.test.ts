import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { orderAttributes, orderSearchAttributes } from '../../../src/orders/describe.ts';
import {
  missingSearchAttributes,
  setupTemporal,
  type TemporalServices,
} from '../../../src/temporal/namespace.ts';
import { eventually, withTestServer } from '../../support/index.ts';

const server = withTestServer();
const everyName = orderSearchAttributes.map(({ name }) => name);

/** A namespace of its own, without the search attributes of orders. */
async function freshNamespace(): Promise<string> {
  const namespace = `setup-${crypto.randomUUID()}`;
  const { workflowService } = server.connection;
  const { config } = await workflowService.describeNamespace({ namespace: 'default' });
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: config?.workflowExecutionRetentionTtl ?? null,
  });
  await eventually(() => missingSearchAttributes(server.connection, namespace));
  return namespace;
}

/** The server as Temporal Cloud shows itself: without the operator service. */
function withoutOperatorService(): TemporalServices {
  const refuse = () =>
    Promise.reject(Object.assign(new Error('12 UNIMPLEMENTED'), { code: 12, details: '', metadata: {} }));
  const operatorService = Object.create(server.connection.operatorService, {
    listSearchAttributes: { value: refuse },
    addSearchAttributes: { value: refuse },
  });
  return { workflowService: server.connection.workflowService, operatorService };
}

test('a namespace that nobody set up lacks every search attribute', async () => {
  const namespace = await freshNamespace();

  expect(await missingSearchAttributes(server.connection, namespace)).toEqual(everyName);
});

test('after the set-up nothing is missing and closed orders are kept for 90 days', async () => {
  const namespace = await freshNamespace();

  expect(await setupTemporal(server.connection, namespace)).toEqual([]);

  expect(await missingSearchAttributes(server.connection, namespace)).toEqual([]);
  const { config } = await server.connection.workflowService.describeNamespace({ namespace });
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(90 * 24 * 3600);
});

test('the set-up can be done again, and twice at once', async () => {
  const namespace = await freshNamespace();

  await Promise.all([
    setupTemporal(server.connection, namespace),
    setupTemporal(server.connection, namespace),
  ]);

  expect(await setupTemporal(server.connection, namespace)).toEqual([]);
});

test('a search attribute with another type counts as missing, and the set-up names it', async () => {
  const namespace = await freshNamespace();
  await server.connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: { OrderAmount: 2 },
  });
  await eventually(async () => {
    const { customAttributes } = await server.connection.operatorService.listSearchAttributes({ namespace });
    return 'OrderAmount' in customAttributes;
  });

  expect(await missingSearchAttributes(server.connection, namespace)).toContain('OrderAmount');
  await expect(setupTemporal(server.connection, namespace)).rejects.toThrow(/OrderAmount \(DOUBLE\)/);
});

test('without an operator service a missing attribute is still found, and the set-up says where to add it', async () => {
  const namespace = await freshNamespace();
  const cloud = withoutOperatorService();

  expect(await missingSearchAttributes(cloud, namespace)).toEqual(everyName);
  await expect(setupTemporal(cloud, namespace)).rejects.toThrow(/CancelBy \(DATETIME\).*Temporal Cloud/);

  await setupTemporal(server.connection, namespace);
  await eventually(async () => (await missingSearchAttributes(cloud, namespace)).length === 0);
});

test('a workflow with every search attribute starts as soon as the set-up is done', async () => {
  const namespace = await freshNamespace();
  await setupTemporal(server.connection, namespace);
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
});
