/** A Redis behind one name, whose primary changes: the name leads to the new one, and the old one becomes a replica. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import { createCardStash } from '../../src/card-stash/index.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';
import { eventually, freePort, listen } from '../support/index.ts';
import { needRedis, startRedis } from '../support/servers/redis-server.ts';

const owner = { integration: 'default', orderId: 'order-1' };
const keys = [{ id: 'a', key: randomBytes(32) }];

async function twoBehindOneName() {
  await needRedis();
  const [old, next] = [await startRedis(), await startRedis()];
  onTestFinished(async () => {
    await old.stop();
    await next.stop();
  });
  const nextPort = Number(new URL(next.url).port);
  let primary = Number(new URL(old.url).port);
  const port = await listen((socket) => {
    const onward = connect(primary, '127.0.0.1');
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  const aStash = () => {
    const stash = createCardStash(`redis://127.0.0.1:${port}`, keys);
    onTestFinished(() => stash.close());
    return stash;
  };
  /** @param of the port of the primary that the old one follows from now on */
  const failOver = async (of = nextPort) => {
    primary = nextPort;
    const admin = createClient({ url: old.url });
    admin.on('error', () => undefined);
    await admin.connect();
    // Else it writes what its primary sends to a file.
    await admin.sendCommand(['CONFIG', 'SET', 'repl-diskless-load', 'swapdb']);
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', String(of)]);
    admin.destroy();
  };
  return { aStash, failOver };
}

it('takes cards again after a failover, although its connection leads to what is a replica now', async () => {
  const { aStash, failOver } = await twoBehindOneName();
  const stash = aStash();
  await stash.put({ ...owner, card: TEST_CARD });
  await failOver();
  await eventually(async () => {
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });
}, 60_000);

it('takes no card for expired because its own connection leads to a replica without it', async () => {
  const { aStash, failOver } = await twoBehindOneName();
  const worker = aStash();
  await worker.get({ ...owner, cardRef: 'card_1' });
  // The old one can't reach the new one, as after a partition.
  await failOver(await freePort());
  // An API that connects now reaches the new primary.
  const { cardRef } = await aStash().put({ ...owner, card: TEST_CARD });
  const given: unknown[] = [];
  await eventually(async () => given.push(await worker.get({ ...owner, cardRef })));
  // `undefined` would end the attempt, as `card-data-expired`.
  expect(given).toEqual([TEST_CARD]);
}, 60_000);
