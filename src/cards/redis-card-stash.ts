/** The card stash in Redis and its connection. */
import { randomBytes } from 'node:crypto';
import { createClient, ErrorReply, type RedisClientType } from 'redis';
import type { Sealed } from '../codec/sealer.ts';
import { instant } from '../contract/words.ts';
import {
  CARD_LIFETIME_MS,
  type CardSealer,
  type CardStash,
  CardStashError,
  newCardRef,
  type RedisAddress,
  readRedisAddress,
} from './card-stash.ts';

/** Format `<key id>.<nonce>.<tag>.<data>`: the key id is that of CARD_STASH_KEYS, the other parts are base64url. */
const STORED = /^([\w-]{1,32})\.([\w-]{16})\.([\w-]{22})\.([\w-]+)$/;

/**
 * Creates a stash in Redis for any number of processes that share its keys. Redis stores only ciphertext, key ids and random names.
 * Connects at the first call and reconnects automatically. Each call ends within a second.
 */
export function createRedisCardStash(address: RedisAddress, sealer: CardSealer): CardStash {
  const redis = createRedisConnection(address);
  return {
    async put({ integration, orderId, card }) {
      const cardRef = newCardRef();
      const expires = Date.now() + CARD_LIFETIME_MS;
      const stored = write(sealer.seal({ integration, orderId }, card, expires));
      await redis.run((client) => client.set(keyOf(cardRef), stored, { PX: CARD_LIFETIME_MS }));
      return { cardRef, expiresAt: instant(expires) };
    },
    async get({ integration, orderId, cardRef }) {
      const stored = await redis.run((client) => client.get(keyOf(cardRef)));
      const sealed = stored === null ? undefined : read(stored);
      return sealed && sealer.open({ integration, orderId }, sealed);
    },
    async forget(cardRef) {
      await redis.run((client) => client.del(keyOf(cardRef)));
    },
    close: () => redis.close(),
  };
}

function keyOf(cardRef: string): string {
  return `card:${cardRef}`;
}

function write({ keyId, nonce, tag, data }: Sealed): string {
  return [keyId, ...[nonce, tag, data].map((bytes) => bytes.toString('base64url'))].join('.');
}

/** @returns the parsed entry; undefined if it isn't in the stash's format */
function read(stored: string): Sealed | undefined {
  const [, keyId, nonce, tag, data] = STORED.exec(stored) ?? [];
  if (keyId === undefined || nonce === undefined || tag === undefined || data === undefined) return undefined;
  const bytes = (encoded: string) => Buffer.from(encoded, 'base64url');
  return { keyId, nonce: bytes(nonce), tag: bytes(tag), data: bytes(data) };
}

export type RedisClient = RedisClientType;

/** A connection to Redis that is opened when needed, and reopened after any failure. */
interface RedisConnection {
  /**
   * Runs one command within a second. The command may be sent twice: if the connection is dead, it is retried on a new one.
   * @throws CardStashError `unreachable` or `refused`
   */
  run<T>(command: (client: RedisClient) => Promise<T>): Promise<T>;
  /** Closes the connection. Later commands fail with `unreachable`. */
  close(): Promise<void>;
}

/** Timeout of a command. It is short because a checkout waits for it, with a budget of a few seconds. */
const CALL_WITHIN_MS = 1_000;
/** Timeout to connect and log in. The socket's own timeout is shorter, so that no late connection is left open. */
const LOGIN_WITHIN_MS = 900;
const CONNECT_WITHIN_MS = 700;

class Late extends Error {}

/**
 * The client's own reconnecting is off: it doesn't detect an open but silent connection, and it could send a command after its call
 * has failed.
 */
function createRedisConnection(address: RedisAddress): RedisConnection {
  let current: Promise<RedisClient> | undefined;
  let closed = false;

  const drop = (used: Promise<RedisClient>): void => {
    if (current === used) current = undefined;
    used.then(destroy, () => undefined);
  };

  const attempt = async <T>(command: (client: RedisClient) => Promise<T>, deadline: number): Promise<T> => {
    if (closed) throw new Late();
    current ??= connect(address);
    const used = current;
    try {
      return await by(
        deadline,
        used.then((client) => command(client)),
      );
    } catch (error) {
      drop(used);
      throw error;
    }
  };

  return {
    async run(command) {
      const deadline = Date.now() + CALL_WITHIN_MS;
      try {
        return await attempt(command, deadline).catch((error: unknown) => {
          if (error instanceof Late || error instanceof ErrorReply) throw error;
          return attempt(command, deadline);
        });
      } catch (error) {
        throw toStashError(error);
      }
    },
    async close() {
      closed = true;
      const used = current;
      current = undefined;
      await used?.then(destroy, () => undefined);
    },
  };
}

function connectable({ socket, ...login }: RedisAddress): RedisClient {
  return createClient({
    ...login,
    socket: { ...socket, connectTimeout: CONNECT_WITHIN_MS, reconnectStrategy: false },
    disableOfflineQueue: true,
    disableClientInfo: true,
  });
}

async function connect(address: RedisAddress): Promise<RedisClient> {
  const client = connectable(address);
  // The failing call reports the error. Without a listener the process would end.
  client.on('error', () => undefined);
  const timer = setTimeout(() => destroy(client), LOGIN_WITHIN_MS);
  try {
    await client.connect();
    return client;
  } finally {
    clearTimeout(timer);
  }
}

function destroy(client: RedisClient): void {
  if (client.isOpen) client.destroy();
}

async function by<T>(deadline: number, result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    // After a blocked event loop, due timers run before pending replies are read. Read the replies first.
    timer = setTimeout(() => setImmediate(() => reject(new Late())), deadline - Date.now());
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Keeps only the code of an error: the client's errors contain the address, and error replies may contain the command. */
function toStashError(error: unknown): CardStashError {
  if (!(error instanceof ErrorReply)) {
    return new CardStashError('unreachable', 'The card stash did not answer');
  }
  const [code = 'ERR'] = /^[A-Z]{2,20}\b/.exec(error.message) ?? [];
  return new CardStashError('refused', `The card stash refused the command: ${code}`);
}

export interface RedisReport {
  /** Whether Redis writes to disk; `unknown` if the user may not read the settings. */
  persistence: 'on' | 'off' | 'unknown';
}

/**
 * Writes a key that expires after a second, as the card stash would, and checks whether Redis writes to disk.
 * @param url `redis[s]://…`, as `CARD_STASH_URL`
 * @throws CardStashError `unreachable`, or `refused` with Redis's own code
 */
export async function inspectRedis(url: string): Promise<RedisReport> {
  const address = readRedisAddress(url);
  if (address === undefined) throw new TypeError('not the address of a Redis');
  const redis = createRedisConnection(address);
  try {
    const key = `card:doctor-${randomBytes(9).toString('base64url')}`;
    await redis.run((client) => client.set(key, '', { PX: 1_000 }));
    await redis.run((client) => client.del(key));
    return { persistence: await persistenceOf(redis) };
  } finally {
    await redis.close();
  }
}

async function persistenceOf(redis: RedisConnection): Promise<RedisReport['persistence']> {
  try {
    const { save = '' } = await redis.run((client) => client.configGet('save'));
    const { appendonly = 'no' } = await redis.run((client) => client.configGet('appendonly'));
    return save === '' && appendonly === 'no' ? 'off' : 'on';
  } catch (error) {
    // A managed Redis doesn't expose its settings.
    if (error instanceof CardStashError && error.reason === 'refused') return 'unknown';
    throw error;
  }
}
