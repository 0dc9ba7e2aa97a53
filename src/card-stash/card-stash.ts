/** The card stash: its interface, the encryption of cards, a stash in memory, and the address of a stash in Redis. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createSealer, type NamedKey, type Sealed, UnknownKeyError } from '../codec/sealer.ts';
import { instant } from '../contract/words.ts';
import { type CardData, cardSchema } from '../screening-service/index.ts';

/** The longest time that a card is stored, whatever the state of its order. */
export const CARD_LIFETIME_MS = 15 * 60_000;

/** The order that a card belongs to. Only this order can read it. */
export interface CardOwner {
  integration: string;
  orderId: string;
}

/**
 * Temporary storage of full card data until it is sent to the screening service. Card data never enters Temporal, a log or an error.
 * Every method rejects with `CardStashError` if the stash doesn't answer, and may be retried.
 */
export interface CardStash {
  /** @returns a random reference to the card, and when the card expires (ISO 8601) */
  put(entry: CardOwner & { card: CardData }): Promise<{ cardRef: string; expiresAt: string }>;
  /**
   * @returns the card; undefined if it has expired, was deleted or belongs to another order
   * @throws CardStashError `unknown-key` if this process lacks the card's encryption key; `clock`
   */
  get(entry: CardOwner & { cardRef: string }): Promise<CardData | undefined>;
  forget(cardRef: string): Promise<void>;
  /** Closes timers and connections, so that the process can end. The stash can't be used afterwards. */
  close(): Promise<void>;
}

export function newCardRef(): string {
  return `card_${randomBytes(18).toString('base64url')}`;
}

/**
 * `unreachable`: no connection, or no answer in time. `refused`: the stash answered with an error, such as for a wrong
 * password. `unknown-key`: the card exists, but this process lacks its encryption key. `clock`: the stash has the card, but by this
 * process's clock it has expired.
 */
export type CardStashErrorReason = 'unreachable' | 'refused' | 'unknown-key' | 'clock';

/** Error of a card stash. It contains no address, password or card data, and has no cause. */
export class CardStashError extends Error {
  override readonly name = 'CardStashError';
  readonly reason: CardStashErrorReason;

  constructor(reason: CardStashErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Creates a stash in memory, with encrypted cards, for a process that is both worker and API. */
export function createMemoryCardStash(sealer: CardSealer): CardStash {
  const cards = new Map<string, Sealed>();
  return {
    async put({ integration, orderId, card }) {
      const cardRef = newCardRef();
      const expires = Date.now() + CARD_LIFETIME_MS;
      cards.set(cardRef, sealer.seal({ integration, orderId }, card, expires));
      setTimeout(() => cards.delete(cardRef), CARD_LIFETIME_MS).unref();
      return { cardRef, expiresAt: instant(expires) };
    },
    async get({ integration, orderId, cardRef }) {
      // The timer may be late, but `open` checks the expiry, which is encrypted with the card.
      const sealed = cards.get(cardRef);
      const card = sealed && sealer.open({ integration, orderId }, sealed);
      return card === 'expired' ? undefined : card;
    },
    async forget(cardRef) {
      cards.delete(cardRef);
    },
    close: async () => cards.clear(),
  };
}

export type CardSealer = ReturnType<typeof createCardSealer>;

const contentSchema = z.strictObject({ card: cardSchema, expires: z.int() });

/** @param keys the first encrypts, all decrypt. If empty, a random key is used that lasts as long as the process. */
export function createCardSealer(keys: readonly NamedKey[]) {
  const [first = { id: 'process', key: randomBytes(32) }, ...others] = keys;
  const sealer = createSealer(first, ...others);
  return {
    /** @param expires when the card expires, in milliseconds since the epoch. Encrypted with the card, so it can't be extended */
    seal: (owner: CardOwner, card: CardData, expires: number): Sealed =>
      sealer.seal(Buffer.from(JSON.stringify({ card, expires })), associatedData(owner)),
    /**
     * @returns the card; `expired` by this process's clock; undefined if it belongs to another order or was changed
     * @throws CardStashError `unknown-key` with the key's id
     */
    open(owner: CardOwner, sealed: Sealed): CardData | 'expired' | undefined {
      try {
        const opened = sealer.open(sealed, associatedData(owner));
        const { card, expires } = contentSchema.parse(JSON.parse(opened.toString('utf8')));
        return expires > Date.now() ? card : 'expired';
      } catch (error) {
        if (!(error instanceof UnknownKeyError)) return undefined;
        throw new CardStashError(
          'unknown-key',
          `The card was encrypted with the key "${sealed.keyId}", which CARD_STASH_KEYS of this process lacks`,
        );
      }
    },
  };
}

function associatedData({ integration, orderId }: CardOwner): Buffer {
  return Buffer.from(JSON.stringify([integration, orderId]));
}

/** Address of a Redis server, with credentials. It contains a password: never log it. */
export interface RedisAddress {
  socket: { host: string; port: number; tls?: true };
  username?: string;
  password?: string;
  database?: number;
}

const DEFAULT_PORT = 6379;

/** @returns the parts of `redis[s]://[user][:password]@host[:port][/database]`, or undefined for anything else */
export function readRedisAddress(written: string): RedisAddress | undefined {
  if (!URL.canParse(written)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(written);
  const database = /^\/?(\d{0,5})$/.exec(pathname)?.[1];
  if (!/^rediss?:$/.test(protocol) || hostname === '' || database === undefined || search || hash) {
    return undefined;
  }
  try {
    return {
      socket: {
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: port === '' ? DEFAULT_PORT : Number(port),
        ...(protocol === 'rediss:' && { tls: true as const }),
      },
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(database !== '' && { database: Number(database) }),
    };
  } catch {
    // The user or password has invalid percent-encoding.
    return undefined;
  }
}
