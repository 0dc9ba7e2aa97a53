import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCardSealer, readRedisAddress } from '../../src/cards/card-stash.ts';
import { CARD_LIFETIME_MS, createCardStash } from '../../src/cards/index.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';

const owner = { integration: 'default', orderId: 'order-1' };

describe('a card stash in memory', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.parse('2026-03-01T10:00:00Z') });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('gives a card back to the order it was put in for', async () => {
    const stash = createCardStash('memory:');
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it('gives a card again and again, since a task may run twice', async () => {
    const stash = createCardStash('memory:');
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    await stash.get({ ...owner, cardRef });
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it.each([
    ['order', { integration: 'default', orderId: 'order-2' }],
    ['integration', { integration: 'outlet', orderId: 'order-1' }],
  ])('gives no card to another %s', async (_what, other) => {
    const stash = createCardStash('memory:');
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    expect(await stash.get({ ...other, cardRef })).toBeUndefined();
  });

  it('says when a card is gone: 15 minutes later', async () => {
    const { expiresAt } = await createCardStash('memory:').put({ ...owner, card: TEST_CARD });
    expect(expiresAt).toBe('2026-03-01T10:15:00.000Z');
  });

  it('gives a card up to the end of its life and not after, although no sweep has run', async () => {
    const stash = createCardStash('memory:');
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    vi.setSystemTime(Date.now() + CARD_LIFETIME_MS - 1);
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    vi.setSystemTime(Date.now() + 1);
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  });

  it('sweeps out cards that nobody asks for', async () => {
    const stash = createCardStash('memory:');
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    vi.advanceTimersByTime(CARD_LIFETIME_MS + 60_000);
    vi.setSystemTime(Date.parse('2026-03-01T10:00:00Z'));
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  });

  it('forgets a card, and a card it never had', async () => {
    const stash = createCardStash('memory:');
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    await stash.forget(cardRef);
    await stash.forget('card_unknown');
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  });

  it('names each card anew and tells nothing of it in the name', async () => {
    const stash = createCardStash('memory:');
    const first = await stash.put({ ...owner, card: TEST_CARD });
    const second = await stash.put({ ...owner, card: TEST_CARD });
    expect(first.cardRef).not.toBe(second.cardRef);
    expect(first.cardRef).toMatch(/^card_[\w-]{24}$/);
  });
});

describe('the address of a stash', () => {
  const keys = [{ id: 'a', key: randomBytes(32) }];

  it.each([
    'memory://secret',
    'http://:secret@cache:6379',
    'redis:secret',
    'redis://:secret@cache/cards',
    'redis://:secret@cache/0?tls=no',
    'redis://:secret%@cache',
    'redis://:secret@cache:port',
  ])('is refused without being named when it is %s', (url) => {
    expect(() => createCardStash(url, keys)).toThrow(/^((?!secret).)*memory:((?!secret).)*$/);
  });

  it('of a Redis needs keys, since several processes share them', () => {
    expect(() => createCardStash('redis://:secret@cache')).toThrow(/^((?!secret).)*keys((?!secret).)*$/);
  });

  it.each([
    ['redis://cache', { socket: { host: 'cache', port: 6379 } }],
    ['rediss://cache:6380/', { socket: { host: 'cache', port: 6380, tls: true } }],
    ['redis://[::1]:7000', { socket: { host: '::1', port: 7000 } }],
    [
      'redis://user:p%40ss@cache/3',
      { socket: { host: 'cache', port: 6379 }, username: 'user', password: 'p@ss', database: 3 },
    ],
  ])('is read in its parts: %s', (url, parts) => {
    expect(readRedisAddress(url)).toEqual(parts);
  });
});

describe('a sealed card', () => {
  const later = Date.now() + CARD_LIFETIME_MS;
  const old = { id: 'old', key: randomBytes(32) };
  const fresh = { id: 'new', key: randomBytes(32) };

  it('holds nothing readable, and never the same bytes twice', () => {
    const sealer = createCardSealer([fresh]);
    const [one, two] = [sealer.seal(owner, TEST_CARD, later), sealer.seal(owner, TEST_CARD, later)];
    expect(one.data.toString('latin1')).not.toContain(TEST_CARD.cardNumber);
    expect(one.nonce.equals(two.nonce)).toBe(false);
    expect(one.data.equals(two.data)).toBe(false);
  });

  it('is sealed with the first key and opened with any', () => {
    const sealed = createCardSealer([old]).seal(owner, TEST_CARD, later);
    const rotated = createCardSealer([fresh, old]);
    expect(rotated.open(owner, sealed)).toEqual(TEST_CARD);
    expect(rotated.seal(owner, TEST_CARD, later).keyId).toBe('new');
  });

  it('stays shut when its life is over', () => {
    const sealer = createCardSealer([old]);
    expect(sealer.open(owner, sealer.seal(owner, TEST_CARD, Date.now() - 1))).toBeUndefined();
  });

  it('stays shut when its key is gone, with the id of the key in words', () => {
    const sealed = createCardSealer([old]).seal(owner, TEST_CARD, later);
    expect(() => createCardSealer([fresh]).open(owner, sealed)).toThrow(
      expect.objectContaining({
        name: 'CardStashError',
        reason: 'unknown-key',
        message: expect.stringContaining('"old"'),
      }),
    );
  });

  it('stays shut when its bytes were changed', () => {
    const sealed = createCardSealer([old]).seal(owner, TEST_CARD, later);
    const changed = Buffer.from(sealed.data);
    changed[0] = (changed[0] ?? 0) ^ 1;
    expect(createCardSealer([old]).open(owner, { ...sealed, data: changed })).toBeUndefined();
  });

  it('is opened by no other process when no key is configured', () => {
    const sealed = createCardSealer([]).seal(owner, TEST_CARD, later);
    expect(createCardSealer([]).open(owner, sealed)).toBeUndefined();
  });
});
