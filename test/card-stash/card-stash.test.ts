import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCardSealer, readRedisAddress } from '../../src/card-stash/card-stash.ts';
import { CARD_LIFETIME_MS, createCardStash } from '../../src/card-stash/index.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';

const owner = { integration: 'default', orderId: 'order-1' };
const START = Date.parse('2026-03-01T10:00:00Z');

/** What every stash does is in `redis-card-stash.test.ts`. */
describe('a card stash in memory', () => {
  async function withCard() {
    vi.useFakeTimers({ now: START });
    onTestFinished(() => void vi.useRealTimers());
    const stash = createCardStash('memory:');
    return { stash, ...(await stash.put({ ...owner, card: TEST_CARD })) };
  }

  it('gives a card for 15 minutes and not after, although no sweep has run', async () => {
    const { stash, cardRef, expiresAt } = await withCard();
    expect(expiresAt).toBe('2026-03-01T10:15:00.000Z');
    vi.setSystemTime(START + CARD_LIFETIME_MS - 1);
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    vi.setSystemTime(START + CARD_LIFETIME_MS);
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  });

  it('sweeps out cards that nobody asks for', async () => {
    const { stash, cardRef } = await withCard();
    vi.advanceTimersByTime(CARD_LIFETIME_MS + 60_000);
    vi.setSystemTime(START);
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  });
});

describe('the address of a stash', () => {
  it.each([
    'memory://secret',
    'http://:secret@cache:6379',
    'redis:secret',
    'redis://:secret@cache/cards',
    'redis://:secret@cache/0?tls=no',
    'redis://:secret%@cache',
    'redis://%C3:secret@cache',
    'redis://:secret@cache:port',
  ])('is refused without being named when it is %s', (url) => {
    const keys = [{ id: 'a', key: randomBytes(32) }];
    expect(() => createCardStash(url, keys)).toThrow(/^((?!secret).)*memory:((?!secret).)*$/);
  });

  it('of a Redis needs keys, since several processes share them', () => {
    expect(() => createCardStash('redis://:secret@cache')).toThrow(/^((?!secret).)*keys((?!secret).)*$/);
  });

  it.each<[url: string, socket: object, login?: object]>([
    ['redis://cache', { host: 'cache', port: 6379 }],
    ['rediss://cache:6380/', { host: 'cache', port: 6380, tls: true }],
    ['redis://[::1]:7000', { host: '::1', port: 7000 }],
    ['redis://u:p%40ss@c/3', { host: 'c', port: 6379 }, { username: 'u', password: 'p@ss', database: 3 }],
  ])('is read in its parts: %s', (url, socket, login = {}) => {
    expect(readRedisAddress(url)).toEqual({ socket, ...login });
  });
});

describe('a sealed card', () => {
  const later = Date.now() + CARD_LIFETIME_MS;
  const old = { id: 'old', key: randomBytes(32) };
  const fresh = { id: 'new', key: randomBytes(32) };
  const sealed = createCardSealer([old]).seal(owner, TEST_CARD, later);

  it('is sealed with the first key and opened with any', () => {
    const rotated = createCardSealer([fresh, old]);
    expect(rotated.open(owner, sealed)).toEqual(TEST_CARD);
    expect(rotated.seal(owner, TEST_CARD, later).keyId).toBe('new');
  });

  it('stays shut when its life is over, its bytes were changed, or no key is configured', () => {
    const sealer = createCardSealer([old]);
    expect(sealer.open(owner, sealer.seal(owner, TEST_CARD, Date.now() - 1))).toBe('expired');
    const data = Buffer.from(sealed.data);
    data[0] = (data[0] ?? 0) ^ 1;
    expect(sealer.open(owner, { ...sealed, data })).toBeUndefined();
    const unconfigured = createCardSealer([]).seal(owner, TEST_CARD, later);
    expect(createCardSealer([]).open(owner, unconfigured)).toBeUndefined();
  });
});
