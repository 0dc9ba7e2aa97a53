/** The Redis of docker-compose.yml, with the very command that stands there. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createCardStash, inspectRedis } from '../../src/card-stash/index.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';
import { eventually, freePort } from '../support/index.ts';
import { needRedis } from '../support/servers/redis-server.ts';

const compose = z.object({
  services: z.object({ redis: z.object({ command: z.tuple([z.string(), z.string(), z.string()]) }) }),
});
const password = randomBytes(24).toString('hex');
let port: number;
let stop: () => Promise<void>;
let pid: number | undefined;
const url = (login: string) => `redis://${login}127.0.0.1:${port}`;
const stashUrl = () => url(`stash:${password}@`);

async function asked(address: string, ...command: string[]): Promise<unknown> {
  const client = createClient({ url: address, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}

beforeAll(async () => {
  await needRedis();
  port = await freePort();
  const [shell, option, script] = compose.parse(parse(readFileSync('docker-compose.yml', 'utf8'))).services
    .redis.command;
  // Compose reads `$$` as `$`. Its container has an address of its own; here a port is.
  const here = script.replaceAll('$$', '$').replace('redis-server -', `redis-server - --port ${port}`);
  const env = { ...process.env, REDIS_PASSWORD: password };
  const child = spawn(shell, [option, here], { env, stdio: 'ignore' });
  pid = child.pid;
  stop = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await eventually(async () => expect(await asked(stashUrl(), 'PING')).toBe('PONG'));
});
afterAll(() => stop());

it('lets the card stash do all that it does', async () => {
  const stash = createCardStash(stashUrl(), [{ id: 'a', key: randomBytes(32) }]);
  const owner = { integration: 'default', orderId: 'order-1' };
  const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
  expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  await stash.forget(cardRef);
  expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  await stash.close();
  expect(await inspectRedis(stashUrl())).toEqual({ persistence: 'unknown' });
});

it.each([
  ['KEYS', 'card:*'],
  ['SCAN', '0'],
  ['CONFIG', 'GET', 'save'],
  ['FLUSHALL'],
  ['ACL', 'LIST'],
  ['SAVE'],
  ['GET', 'another'],
])('refuses the stash %s %s', async (...command) => {
  await expect(asked(stashUrl(), ...command)).rejects.toThrow('NOPERM');
});

it('lets nobody else in', async () => {
  await expect(asked(url(''), 'GET', 'card:1')).rejects.toThrow('NOAUTH');
  await expect(asked(url(`:${password}@`), 'PING')).rejects.toThrow(/WRONGPASS|NOAUTH/);
});

it('shows its password to no list of processes', async () => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'args=', '-p', String(pid)]);
  expect(stdout).toContain('redis-server');
  expect(stdout).not.toContain(password);
});
