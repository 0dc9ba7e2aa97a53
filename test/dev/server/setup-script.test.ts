import { expect, test } from 'vitest';
import { missingSearchAttributes } from '../../../src/dev/index.ts';
import { spawnForTest, withTestServer } from '../../support/index.ts';

const server = withTestServer();

test('npm run setup:temporal sets the configured namespace up, and says so', async () => {
  const script = await spawnForTest('src/dev/setup-temporal.ts', {
    env: { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'default' },
  });

  expect(await script.ended).toBe(0);
  expect(script.output()).toContain('Namespace "default" is set up for orders.');
  expect(await missingSearchAttributes(server.connection, 'default')).toEqual([]);
});

test('a namespace that does not exist makes it fail, with the reason', async () => {
  const script = await spawnForTest('src/dev/setup-temporal.ts', {
    env: { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'nowhere' },
  });

  expect(await script.ended).toBe(1);
  expect(script.output()).toMatch(/nowhere.*not found/);
});
