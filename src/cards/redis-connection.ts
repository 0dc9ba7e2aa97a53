import { createClient, ErrorReply, type RedisClientType } from 'redis';
import type { RedisAddress } from '../redis-address.ts';
import { CardStashError } from './card-stash-error.ts';

export type RedisClient = RedisClientType;

/** One connection to Redis that is made when it is needed, and made anew after anything went wrong with it. */
export interface RedisConnection {
  /**
   * Runs one command, within a second. It may be sent twice: when a connection turns out to be dead, a new one is tried.
   * @throws CardStashError `unreachable` or `refused`
   */
  run<T>(command: (client: RedisClient) => Promise<T>): Promise<T>;
  /** Closes the connection; every later command is `unreachable`. */
  close(): Promise<void>;
}

/** A checkout waits for it, and its budget is a few seconds. */
const CALL_WITHIN_MS = 1_000;
/** To connect and log in. The connection alone gets less, so that a late one isn't left behind open. */
const LOGIN_WITHIN_MS = 900;
const CONNECT_WITHIN_MS = 700;

class Late extends Error {}

/**
 * The client's own reconnecting stays off: it would not see a connection that is open and silent, and after a failed call
 * nothing of that call may be sent any more.
 */
export function createRedisConnection(address: RedisAddress): RedisConnection {
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
  // The call that needs the connection hears of it; without a listener the process would end.
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
    timer = setTimeout(() => reject(new Late()), deadline - Date.now());
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What the client throws names the address, and an error reply may repeat the command: only its code is kept. */
function toStashError(error: unknown): CardStashError {
  if (!(error instanceof ErrorReply)) {
    return new CardStashError('unreachable', 'The card stash did not answer');
  }
  const [code = 'ERR'] = /^[A-Z]{2,20}\b/.exec(error.message) ?? [];
  return new CardStashError('refused', `The card stash refused the command: ${code}`);
}
