import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { assertPortFree, freePort } from '../../../src/dev/ports.ts';
import { missingSearchAttributes } from '../../../src/platform/namespace.ts';
import { type Api, anOrderId, deploy } from '../../e2e/support.ts';
import { withEmail } from '../../fixtures/transactions.ts';
import { eventually, spawnForTest } from '../../support/index.ts';
import { scratchFolder } from '../fake-commands.ts';

/** What a machine that has other things to do takes for it. */
const SLOW_MS = 4_000;

/** How long the server stays away after its end: not at all, or `OUTAGE_MINUTES`. */
const OUTAGE_MS = Number(process.env.OUTAGE_MINUTES ?? 0) * 60_000;

const SCRIPT = 'src/dev/temporal-main.ts';

async function startAlone(settings: Record<string, string> = {}) {
  const port = await freePort();
  const env = {
    TEMPORAL_PORT: String(port),
    TEMPORAL_UI_PORT: String(await freePort()),
    DATA_DIR: join(await scratchFolder(), 'data'),
    ...settings,
  };
  const startAgain = () => spawnForTest(SCRIPT, { env, readyWhen: /Temporal is ready at/ });
  return { alone: await startAgain(), port, startAgain };
}

/** Kills the server's parent, and waits until the server's port is free. */
async function killParent({ alone, port }: Awaited<ReturnType<typeof startAlone>>): Promise<void> {
  const idle = connect(port, '127.0.0.1');
  onTestFinished(() => void idle.destroy());
  await once(idle, 'connect');
  alone.kill('SIGKILL');
  // The connection ends with the process that has its other end.
  await once(idle.resume(), 'close');
  await assertPortFree(port, 'TEMPORAL_PORT');
}

test('the server alone serves the namespace that the other processes are told until SIGTERM, and then ends well', async () => {
  const { alone, port } = await startAlone({ TEMPORAL_NAMESPACE: 'shop' });
  const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  onTestFinished(() => connection.close());
  expect(await missingSearchAttributes(connection, 'shop')).toEqual([]);

  expect(await alone.stop()).toBe(0);

  await assertPortFree(port, 'TEMPORAL_PORT');
});

test(
  'a server whose parent was killed ends within 6 s; API and workers go on within 15 s of the next start',
  async () => {
    const server = await startAlone();
    const poll = { first: '300ms', factor: 1, max: '300ms' };
    const all = await deploy(
      `127.0.0.1:${server.port}`,
      { default: { poll, events: 'all' } },
      { webhooks: false },
    );
    onTestFinished(() => all.stop());
    const both = await all.startServe();
    const passes = async ({ call }: Pick<Api, 'call'>, orderId: string) => {
      const transaction = withEmail('pass@example.com');
      const { status, body } = await call('POST', `/v1/orders/${orderId}/screening`, { transaction });
      expect([status, body.action]).toEqual([200, 'proceed']);
    };
    await Promise.all([all, both].map((one) => passes(one, anOrderId())));
    const reviews = Array.from({ length: 3 }, () => anOrderId());
    for (const orderId of reviews) {
      const body = { transaction: withEmail('review@example.com') };
      expect(await all.call('POST', `/v1/orders/${orderId}/screening`, body)).toMatchObject({ status: 200 });
    }
    const killed = Date.now();
    await killParent(server);
    expect(Date.now() - killed).toBeLessThan(6_000 + SLOW_MS);
    await sleep(OUTAGE_MS);

    await server.startAgain();
    const ready = Date.now();
    for (const orderId of reviews) all.sandbox.control.decide(orderId, 'pass');

    const goesOn = (probe: () => Promise<unknown>) =>
      eventually(probe, { timeoutMs: 15_000 + SLOW_MS, intervalMs: 250 });
    const [byApi, byServe] = [anOrderId(), anOrderId()];
    await Promise.all([
      goesOn(() => passes(all, byApi)),
      goesOn(() => passes(both, byServe)),
      // Events are sent by other workers than checkouts are decided by.
      goesOn(async () => {
        const told = { orderId: byApi, type: 'order.decided' };
        expect(all.events).toContainEqual(expect.objectContaining(told));
      }),
    ]);
    expect(Date.now() - ready).toBeLessThan(15_000 + SLOW_MS);
    // A poll that was just given out is found lost after 15 s, and made again 10 s later.
    const resolved = async (orderId: string) => {
      const { body } = await all.call('GET', `/v1/orders/${orderId}`);
      expect(body).toMatchObject({ decision: 'pass', lastRead: { source: 'poll' } });
    };
    const left = { timeoutMs: ready + 30_000 + SLOW_MS - Date.now(), intervalMs: 250 };
    await Promise.all(reviews.map((orderId) => eventually(() => resolved(orderId), left)));
  },
  OUTAGE_MS + 120_000,
);

test('a wrong setting is refused by name, without a server', async () => {
  const refused = await spawnForTest(SCRIPT, { env: { TEMPORAL_PORT: 'many' } });

  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain('TEMPORAL_PORT');
});
