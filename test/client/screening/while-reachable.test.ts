/** A checkout while Temporal refuses connections, or takes them and never answers. */
import { createServer, type Socket } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, it } from 'vitest';
import { createOrderScreening } from '../../../src/starter.ts';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { freePort, startServer } from '../../support/index.ts';

const sockets: Socket[] = [];
const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
const { port: silentPort } = await startServer(silent);
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

it.each([
  ['refuses connections', await freePort()],
  ['takes connections and never answers', silentPort],
])('a checkout hears within two seconds what policy does when Temporal %s', async (_how, port) => {
  // It is not closed: the SDK still retries calls that nobody waits for, which then throws.
  const client = new Client({ connection: Connection.lazy({ address: `127.0.0.1:${port}` }) });
  const asked = (whenUnavailable: 'hold' | 'proceed') =>
    createOrderScreening({ client, findIntegration: finding(anIntegration({ whenUnavailable })) }).screen({
      orderId: '1001',
      transaction: aTransaction(),
    });
  const began = performance.now();
  const details = (action: string) => ({
    code: 'temporal-unavailable',
    details: { action, recorded: false },
  });
  await Promise.all([
    expect(asked('hold')).rejects.toMatchObject(details('hold')),
    expect(asked('proceed')).rejects.toMatchObject(details('proceed')),
  ]);
  expect(performance.now() - began).toBeLessThan(5_000);
});
