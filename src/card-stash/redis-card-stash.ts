import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
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
 * Each call ends within a second.
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
      const look = () => redis.run((client) => client.get(keyOf(cardRef)));
      let stored = await look();
      if (stored === null) {
        // A replica may lack the card. It refuses this write, which changes nothing elsewhere, and the call connects anew.
        await redis.run((client) => client.del(`${keyOf(cardRef)}:none`));
        stored = await look();
      }
      const sealed = stored === null ? undefined : read(stored);
      const card = sealed && sealer.open({ integration, orderId }, sealed);
      // Redis deletes a card in time, so one of the clocks is wrong, and another worker may read the card.
      if (card === 'expired') throw new CardStashError('clock', EXPIRED_HERE);
      return card;
    },
    async forget(cardRef) {
      await redis.run((client) => client.del(keyOf(cardRef)));
    },
    close: () => redis.close(),
  };
}

const EXPIRED_HERE =
  "The card has expired by this process's clock, but not in Redis: synchronize the clocks of all processes";

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

/** Timeout of a command. It is short because a checkout waits for it, with a budget of a few seconds. */
const CALL_WITHIN_MS = 1_000;
const CONNECT_WITHIN_MS = 700;
const RECONNECT_AFTER_MS = 200;
/** A connection without a reply to pings counts as lost. */
const PING_EVERY_MS = 1_000;
const SILENT_FOR_MS = 3_000;

class Late extends Error {}

/** A connection to Redis that is opened at the first command, and that the client library reopens after any failure. */
function createRedisConnection({ socket, ...login }: RedisAddress) {
  const client: RedisClientType = createClient({
    ...login,
    socket: {
      ...socket,
      // Node sends no server name by itself. An IP address is no server name.
      ...(socket.tls && isIP(socket.host) === 0 && { servername: socket.host }),
      connectTimeout: CONNECT_WITHIN_MS,
      socketTimeout: SILENT_FOR_MS,
      // A refused login is reported at once, and tried again by the next command.
      reconnectStrategy: (_tries, cause) => (cause instanceof ErrorReply ? false : RECONNECT_AFTER_MS),
    },
    pingInterval: PING_EVERY_MS,
    // Commands that wait for a connection are dropped when their call has failed.
    commandOptions: { timeout: CALL_WITHIN_MS },
    disableClientInfo: true,
  });
  // The failing call reports the error. Without a listener the process would end.
  client.on('error', () => undefined);
  let connected: Promise<unknown> | undefined;
  let closed = false;
  const attempt = async <T>(
    command: (client: RedisClientType) => Promise<T>,
    deadline: number,
  ): Promise<T> => {
    if (closed) throw new Late();
    if (!client.isOpen) connected = client.connect();
    await connected;
    if (performance.now() > deadline) throw new Late();
    return command(client);
  };
  return {
    /**
     * Runs one command within a second. The command may be sent twice: if the connection is lost, it is retried on the next one.
     * @throws CardStashError `unreachable` or `refused`
     */
    async run<T>(command: (client: RedisClientType) => Promise<T>): Promise<T> {
      const deadline = performance.now() + CALL_WITHIN_MS;
      const result = attempt(command, deadline).catch((error: unknown) => {
        // After a failover the connection leads to a replica, and stays open.
        if (error instanceof ErrorReply && error.message.startsWith('READONLY')) client.destroy();
        else if (error instanceof ErrorReply || error instanceof Late) throw error;
        return attempt(command, deadline);
      });
      try {
        return await within(CALL_WITHIN_MS, result);
      } catch (error) {
        throw toStashError(error);
      }
    },
    /** Closes the connection. Later commands fail with `unreachable`. */
    async close(): Promise<void> {
      closed = true;
      if (client.isOpen) client.destroy();
    },
  };
}

async function within<T>(ms: number, result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    // After a blocked event loop, due timers run before pending replies are read. Read the replies first.
    timer = setTimeout(() => setImmediate(() => reject(new Late())), ms);
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
 * Writes, reads and deletes a key that expires after a second, as the card stash would, and checks whether Redis writes to disk.
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
    await redis.run((client) => client.get(key));
    await redis.run((client) => client.del(key));
    return { persistence: await persistenceOf(redis) };
  } finally {
    await redis.close();
  }
}

async function persistenceOf(
  redis: ReturnType<typeof createRedisConnection>,
): Promise<RedisReport['persistence']> {
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
