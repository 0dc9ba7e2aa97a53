import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createClient } from 'redis';
import { afterAll, beforeAll } from 'vitest';
import { freePort } from '../../../src/dev/ports.ts';
import { eventually } from '../eventually.ts';
import { type NeededProgram, needProgram } from '../processes/debian-package.ts';

/** A Redis of its own on loopback, that keeps nothing. */
export type RedisServer = Awaited<ReturnType<typeof startRedis>>;

type RedisClient = ReturnType<typeof createClient>;

const REDIS = {
  commands: ['redis-server'],
  debianPackages: ['redis-server'],
  howTo:
    'redis-server, 6 or newer (Debian and Ubuntu: apt-get install redis-server; macOS: brew install redis)',
} satisfies NeededProgram;

/** Makes sure that there is a `redis-server`, as `needProgram` does. */
export async function needRedis(): Promise<void> {
  await needProgram(REDIS);
}

/** As `needRedis`. @returns whether there is one now */
export async function redisInstalled(): Promise<boolean> {
  return needRedis().then(
    () => true,
    () => false,
  );
}

/**
 * Starts `redis-server` on a free port and waits until it answers.
 * @param password asked of everyone who connects, if given
 * @throws Error when it doesn't answer in time
 */
export async function startRedis({ password }: { password?: string } = {}) {
  const port = await freePort();
  const url = `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`;
  const login = password === undefined ? [] : ['--requirepass', password];
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...login];

  const launch = async () => {
    const child = spawn('redis-server', args, { stdio: 'ignore' });
    const killed = () => child.kill('SIGKILL');
    process.once('exit', killed);
    child.once('exit', () => process.removeListener('exit', killed));
    await eventually(() => withClient(url, async (client) => void (await client.ping())));
    return child;
  };

  let child = await launch();
  return {
    url,
    /** Kills it, so that its port refuses. */
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    /** Starts it again, empty, on the same port. */
    async start() {
      child = await launch();
    },
    /** Stops it from answering, with its connections open. */
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    running: () => child.exitCode === null && child.signalCode === null,
    /** Waits until what is asked of it holds. */
    until: (holds: (client: RedisClient) => Promise<void>) => eventually(() => withClient(url, holds)),
  };
}

/** Starts a Redis before the tests of a file, and stops it after them. Its fields can be read from `beforeAll` on. */
export function withRedis(options?: Parameters<typeof startRedis>[0]): RedisServer {
  let started: RedisServer | undefined;
  beforeAll(async () => {
    await needRedis();
    started = await startRedis(options);
  }, 120_000);
  afterAll(() => started?.stop());
  return new Proxy({} as RedisServer, { get: (_empty, name) => started && Reflect.get(started, name) });
}

/** @returns the settings of a card stash in a Redis, with a key of its own */
export const stashIn = ({ url }: RedisServer) => ({
  CARD_STASH_URL: url,
  CARD_STASH_KEYS: `one:${randomBytes(32).toString('base64')}`,
});

async function withClient(url: string, use: (client: RedisClient) => Promise<void>): Promise<void> {
  const client: RedisClient = createClient({ url, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await use(client);
  } finally {
    client.destroy();
  }
}
