import { randomBytes } from 'node:crypto';
import { redisInstalled, startRedis } from '../support/redis-server.ts';

/** The card stash that API and workers share: a Redis of the run's own. */
export interface CardStash {
  /** What the processes need to find it. */
  env: Record<string, string>;
  /** Stops it from answering for a while. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** @returns the stash, or undefined where no Redis can be had: pre-gateway orders are left out then */
export async function startCardStash(): Promise<CardStash | undefined> {
  if (!(await redisInstalled())) return undefined;
  const { url, freeze, thaw, stop } = await startRedis();
  const keys = `chaos:${randomBytes(32).toString('base64')}`;
  return {
    env: { CARD_STASH_URL: url, CARD_STASH_KEYS: keys },
    freeze,
    thaw,
    stop: () => {
      thaw();
      return stop();
    },
  };
}
