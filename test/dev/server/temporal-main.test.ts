import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { assertPortFree, freePort } from '../../../src/dev/guarded-child.ts';
import { missingSearchAttributes } from '../../../src/temporal/namespace.ts';
import { eventually, type SpawnedProcess, spawnForTest } from '../../support/index.ts';
import { scratchFolder } from '../fake-commands.ts';

/** What a machine that has other things to do takes for it. */
const SLOW_MS = 4_000;

const SCRIPT = 'src/dev/temporal-main.ts';

async function startAlone(
  settings: Record<string, string> = {},
): Promise<{ alone: SpawnedProcess; port: number }> {
  const port = await freePort();
  const alone = await spawnForTest(SCRIPT, {
    env: {
      TEMPORAL_PORT: String(port),
      TEMPORAL_UI_PORT: String(await freePort()),
      DATA_DIR: join(await scratchFolder(), 'data'),
      ...settings,
    },
    readyWhen: /Temporal is ready at/,
  });
  return { alone, port };
}

test('the server alone serves the namespace that the other processes are told until SIGTERM, and then ends well', async () => {
  const { alone, port } = await startAlone({ TEMPORAL_NAMESPACE: 'shop' });
  const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  onTestFinished(() => connection.close());
  expect(await missingSearchAttributes(connection, 'shop')).toEqual([]);

  expect(await alone.stop()).toBe(0);

  await assertPortFree(port, 'TEMPORAL_PORT');
});

test('the server does not outlive a parent that was killed', async () => {
  const { alone, port } = await startAlone();

  alone.kill('SIGKILL');

  await eventually(() => assertPortFree(port, 'TEMPORAL_PORT'));
});

test('a server whose parent was killed ends within 6 s, although somebody holds a connection to it', async () => {
  const { alone, port } = await startAlone();
  const idle = connect(port, '127.0.0.1');
  onTestFinished(() => void idle.destroy());
  await once(idle, 'connect');

  alone.kill('SIGKILL');
  const killed = Date.now();

  // The connection ends with the process that has its other end.
  await once(idle.resume(), 'close');
  expect(Date.now() - killed).toBeLessThan(6_000 + SLOW_MS);
  await assertPortFree(port, 'TEMPORAL_PORT');
});

test('a wrong setting is refused by name, without a server', async () => {
  const refused = await spawnForTest(SCRIPT, { env: { TEMPORAL_PORT: 'many' } });

  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain('TEMPORAL_PORT');
});
