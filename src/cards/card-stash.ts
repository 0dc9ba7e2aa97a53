/** The card stash: what it does, how a card is sealed, a stash in memory, and where one in Redis is. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createSealer, type NamedKey, SealError, type Sealed } from '../codec/sealer.ts';
import { instant } from '../contract/words.ts';
import { type CardData, cardSchema } from '../screening/index.ts';

/** How long a card lives, whatever happens to its order. */
export const CARD_LIFETIME_MS = 15 * 60_000;

/** The order that a card belongs to; it can be taken out for no other. */
export interface CardOwner {
  integration: string;
  orderId: string;
}

/**
 * Full card data on its way to the service: it never enters Temporal, a log or an error.
 * Every method rejects with `CardStashError` when the stash doesn't answer; the same call may be made again.
 */
export interface CardStash {
  /** @returns the name of the card, which tells nothing about it, and when it is gone (ISO 8601) */
  put(entry: CardOwner & { card: CardData }): Promise<{ cardRef: string; expiresAt: string }>;
  /**
   * @returns the card; undefined when it is gone, forgotten or another order's
   * @throws CardStashError `unknown-key` when this process lacks the key that sealed it
   */
  get(entry: CardOwner & { cardRef: string }): Promise<CardData | undefined>;
  /** Deletes a card; no error when there is none. */
  forget(cardRef: string): Promise<void>;
  /** Lets go of whatever keeps the process alive. Nothing is put in or taken out afterwards. */
  close(): Promise<void>;
}

/** @returns a name for a card, never given before, that tells nothing about it */
export function newCardRef(): string {
  return `card_${randomBytes(18).toString('base64url')}`;
}

/**
 * `unreachable`: no answer in time, or no connection. `refused`: the stash answered with an error, such as for a wrong
 * password. `unknown-key`: the card is there, but this process lacks the key that sealed it.
 */
export type CardStashErrorReason = 'unreachable' | 'refused' | 'unknown-key';

/** Thrown by a card stash. It names no address and holds no password, no card data and no cause. */
export class CardStashError extends Error {
  override readonly name = 'CardStashError';
  readonly reason: CardStashErrorReason;

  constructor(reason: CardStashErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const SWEEP_EVERY_MS = 60_000;

/** Cards in this process's memory, encrypted: for one process that is worker and API in one. */
export function createMemoryCardStash(sealer: CardSealer): CardStash {
  const cards = new Map<string, { sealed: Sealed; expires: number }>();
  const sweeping = setInterval(() => {
    for (const [cardRef, { expires }] of cards) if (expires <= Date.now()) cards.delete(cardRef);
  }, SWEEP_EVERY_MS).unref();
  return {
    async put({ integration, orderId, card }) {
      const cardRef = newCardRef();
      const expires = Date.now() + CARD_LIFETIME_MS;
      cards.set(cardRef, { sealed: sealer.seal({ integration, orderId }, card, expires), expires });
      return { cardRef, expiresAt: instant(expires) };
    },
    async get({ integration, orderId, cardRef }) {
      // The sweep may be late; the lifetime isn't: it is sealed with the card.
      const sealed = cards.get(cardRef)?.sealed;
      return sealed && sealer.open({ integration, orderId }, sealed);
    },
    async forget(cardRef) {
      cards.delete(cardRef);
    },
    async close() {
      clearInterval(sweeping);
      cards.clear();
    },
  };
}

export interface CardSealer {
  /**
   * Encrypts with the first key.
   * @param expires when the card is gone, in milliseconds after the epoch; sealed with it, so that nobody can put it off
   */
  seal(owner: CardOwner, card: CardData, expires: number): Sealed;
  /**
   * @returns the card, or undefined when it has expired, is another order's or was changed
   * @throws CardStashError `unknown-key`, naming the key's id
   */
  open(owner: CardOwner, sealed: Sealed): CardData | undefined;
}

const contentSchema = z.strictObject({ card: cardSchema, expires: z.int() });

/** @param keys the first seals, all open; none: a random key that dies with the process */
export function createCardSealer(keys: readonly NamedKey[]): CardSealer {
  const [first = { id: 'process', key: randomBytes(32) }, ...others] = keys;
  const sealer = createSealer(first, ...others);
  return {
    seal: (owner, card, expires) =>
      sealer.seal(Buffer.from(JSON.stringify({ card, expires })), associatedData(owner)),
    open(owner, sealed) {
      try {
        const opened = sealer.open(sealed, associatedData(owner));
        const { card, expires } = contentSchema.parse(JSON.parse(opened.toString('utf8')));
        return expires > Date.now() ? card : undefined;
      } catch (error) {
        if (!(error instanceof SealError) || error.reason !== 'unknown-key') return undefined;
        throw new CardStashError(
          'unknown-key',
          `The card was sealed with the key "${sealed.keyId}", which CARD_STASH_KEYS of this process lacks`,
        );
      }
    },
  };
}

function associatedData({ integration, orderId }: CardOwner): Buffer {
  return Buffer.from(JSON.stringify([integration, orderId]));
}

// Where a stash in Redis is.

/** A Redis, and how to log in. It holds a password: never log it. */
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
    // A % in the user or the password that encodes nothing, or half a character.
    return undefined;
  }
}
