import { expect, test } from 'vitest';
import { missingSearchAttributes } from '../../../src/temporal/namespace.ts';
import { freePort, spawnForTest, withTestServer } from '../../support/index.ts';

const server = withTestServer();

test('a namespace that does not exist is made, with the retention of orders', async () => {
  const script = await spawnForTest('src/temporal/setup-temporal.ts', {
    env: { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'made-by-setup' },
  });

  expect(await script.ended).toBe(0);
  expect(script.output()).toContain('Namespace "made-by-setup" was created.');
  expect(script.output()).toContain('Namespace "made-by-setup" is set up for orders.');
  expect(await missingSearchAttributes(server.connection, 'made-by-setup')).toEqual([]);
  const { config } = await server.connection.workflowService.describeNamespace({
    namespace: 'made-by-setup',
  });
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(90 * 24 * 3600);
});

test('a namespace whose name the server refuses makes it fail, with the reason', async () => {
  const script = await spawnForTest('src/temporal/setup-temporal.ts', {
    env: { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'a-name'.repeat(200) },
  });

  expect(await script.ended).toBe(1);
  expect(script.output()).toContain('Namespace length');
});

test('a server that does not answer makes it fail, with the address', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const script = await spawnForTest('src/temporal/setup-temporal.ts', { env: { TEMPORAL_ADDRESS: address } });

  expect(await script.ended).toBe(1);
  expect(script.output()).toContain(`Temporal doesn't answer at ${address}`);
});

test('half a version of the workers makes it fail, with the variable that is missing', async () => {
  const script = await spawnForTest('src/temporal/setup-temporal.ts', {
    env: { TEMPORAL_ADDRESS: server.address, WORKER_BUILD_ID: 'v1' },
  });

  expect(await script.ended).toBe(1);
  expect(script.output()).toContain('WORKER_DEPLOYMENT_NAME: is required with WORKER_BUILD_ID');
});
