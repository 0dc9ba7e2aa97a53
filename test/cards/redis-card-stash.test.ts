import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CARD_LIFETIME_MS, type CardStash, CardStashError, createCardStash } from '../../src/cards/index.ts';
import type { NamedKey } from '../../src/codec/sealer.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';
import { freePort } from '../support/index.ts';
import { needRedis, type RedisServer, startRedis } from '../support/redis-server.ts';

const owner = { integration: 'default', orderId: 'order-1' };
const oldKey = { id: 'old', key: randomBytes(32) };
const newKey = { id: 'new', key: randomBytes(32) };
const password = 'do-not-print-me';

/** Beyond the second that a call may take: for a machine that has other things to do. */
const ABOUT_A_SECOND_MS = 3_000;

function aStash(url: string, keys: NamedKey[] = [oldKey]): CardStash {
  const stash = createCardStash(url, keys);
  onTestFinished(() => stash.close());
  return stash;
}

/** Calls all three methods, and returns what each was refused with. */
async function failuresOf(stash: CardStash): Promise<unknown[]> {
  const calls = [
    stash.put({ ...owner, card: TEST_CARD }),
    stash.get({ ...owner, cardRef: 'card_1' }),
    stash.forget('card_1'),
  ];
  return Promise.all(
    calls.map((call) =>
      call.then(
        () => 'no failure',
        (error: unknown) => error,
      ),
    ),
  );
}

function expectFailures(failures: unknown[], reason: string): void {
  for (const failure of failures) {
    expect(failure).toBeInstanceOf(CardStashError);
    expect(failure).toMatchObject({ reason });
    expect((failure as Error).cause).toBeUndefined();
    const shown = `${failure} ${(failure as Error).stack?.split('\n')[0]} ${JSON.stringify(failure)}`;
    expect(shown).not.toMatch(/redis:|127\.0\.0\.1|do-not-print-me|4111/);
  }
}

describe('a card stash in Redis', () => {
  let redis: RedisServer;
  const admin = () => {
    const client = createClient({ url: redis.url });
    onTestFinished(() => client.destroy());
    return client.connect();
  };

  beforeAll(async () => {
    await needRedis();
    redis = await startRedis({ password });
  }, 120_000);
  afterAll(() => redis?.stop());

  it('needs no more of Redis than three commands on keys of its own', async () => {
    const client = await admin();
    const rules = ['reset', 'on', `>${password}`, '~card:*', '+set', '+get', '+del', '+hello', '+select'];
    await client.sendCommand(['ACL', 'SETUSER', 'stash', ...rules]);
    const stash = aStash(redis.url.replace('://:', '://stash:'));
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    await stash.forget(cardRef);
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  });

  it('gives a card back to the order it was put in for, from any process with the key', async () => {
    const { cardRef } = await aStash(redis.url).put({ ...owner, card: TEST_CARD });
    const another = aStash(redis.url);
    expect(await another.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    expect(await another.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it.each([
    ['order', { integration: 'default', orderId: 'order-2' }],
    ['integration', { integration: 'outlet', orderId: 'order-1' }],
  ])('gives no card to another %s', async (_what, other) => {
    const stash = aStash(redis.url);
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    expect(await stash.get({ ...other, cardRef })).toBeUndefined();
  });

  it('forgets a card, and a card it never had', async () => {
    const stash = aStash(redis.url);
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    await stash.forget(cardRef);
    await stash.forget('card_unknown');
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
    expect(await (await admin()).exists(`card:${cardRef}`)).toBe(0);
  });

  it('lets Redis delete a card within 15 minutes, and says when', async () => {
    const before = Date.now();
    const { cardRef, expiresAt } = await aStash(redis.url).put({ ...owner, card: TEST_CARD });
    const lifetime = Date.parse(expiresAt) - before;
    expect(lifetime).toBeGreaterThanOrEqual(CARD_LIFETIME_MS);
    expect(lifetime).toBeLessThan(CARD_LIFETIME_MS + ABOUT_A_SECOND_MS);
    const left = await (await admin()).pTTL(`card:${cardRef}`);
    expect(left).toBeGreaterThan(CARD_LIFETIME_MS - 60_000);
    expect(left).toBeLessThanOrEqual(CARD_LIFETIME_MS);
  });

  it('takes an answer that came while the process was held up for longer than a call may take', async () => {
    const stash = aStash(redis.url);
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    await (await admin()).sendCommand(['CLIENT', 'PAUSE', '400', 'ALL']);
    const asked = stash.get({ ...owner, cardRef });
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    const until = Date.now() + 1_500;
    while (Date.now() < until);
    expect(await asked).toEqual(TEST_CARD);
  });

  it('gives no card after its life, although Redis kept it', async () => {
    const stash = aStash(redis.url);
    const { cardRef, expiresAt } = await stash.put({ ...owner, card: TEST_CARD });
    const client = await admin();
    expect(await client.persist(`card:${cardRef}`)).toBe(1);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(expiresAt) - 1_000 });
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    vi.setSystemTime(Date.parse(expiresAt));
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
    expect(await client.exists(`card:${cardRef}`)).toBe(1);
  });

  it('opens cards of an older key while it is in the list, and seals with the first', async () => {
    const before = await aStash(redis.url, [oldKey]).put({ ...owner, card: TEST_CARD });
    const rotating = aStash(redis.url, [newKey, oldKey]);
    expect(await rotating.get({ ...owner, cardRef: before.cardRef })).toEqual(TEST_CARD);
    const after = await rotating.put({ ...owner, card: TEST_CARD });
    const rotated = aStash(redis.url, [newKey]);
    expect(await rotated.get({ ...owner, cardRef: after.cardRef })).toEqual(TEST_CARD);
  });

  it('says which key it lacks, by its id', async () => {
    const { cardRef } = await aStash(redis.url, [oldKey]).put({ ...owner, card: TEST_CARD });
    const getting = aStash(redis.url, [newKey]).get({ ...owner, cardRef });
    await expect(getting).rejects.toMatchObject({
      name: 'CardStashError',
      reason: 'unknown-key',
      message: expect.stringContaining('"old"'),
    });
  });

  it.each(['', 'nonsense', 'old.AAAA.BBBB.CCCC', `old.${'A'.repeat(16)}.${'A'.repeat(22)}.AAAA`])(
    'gives no card for a value that nobody sealed: "%s"',
    async (value) => {
      const client = await admin();
      await client.set('card:card_forged', value);
      expect(await aStash(redis.url).get({ ...owner, cardRef: 'card_forged' })).toBeUndefined();
    },
  );

  it('leaves nothing of a card in Redis that can be read, in plain or in base64', async () => {
    const client = await admin();
    await client.flushAll();
    await aStash(redis.url).put({ ...owner, card: TEST_CARD });
    const keys = await client.keys('*');
    expect(keys).toEqual([expect.stringMatching(/^card:card_[\w-]{24}$/)]);
    const values = await client.mGet(keys);
    const raw = values.flatMap((value) => (value ?? '').split('.'));
    const dump = [
      ...keys,
      ...values,
      ...raw.map((part) => Buffer.from(part, 'base64').toString('latin1')),
    ].join('\n');
    for (const form of formsOf(TEST_CARD.cardNumber)) expect(dump).not.toContain(form);
    for (const form of formsOf(TEST_CARD.expirationDate)) expect(dump).not.toContain(form);
    // Three digits alone turn up in random bytes: the code is looked for with its name and its quotes.
    for (const form of formsOf('"cardCode":"123"')) expect(dump).not.toContain(form);
    expect(dump).not.toContain('cardCode');
    expect(dump).not.toContain(owner.orderId);
  });

  it('is unreachable about a second after Redis fell silent, and works again when it answers', async () => {
    const stash = aStash(redis.url);
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    redis.freeze();
    onTestFinished(() => redis.thaw());
    const begun = Date.now();
    // The first call has an open connection, the next ones need a new one.
    expectFailures(await failuresOf(stash), 'unreachable');
    expect(Date.now() - begun).toBeLessThan(ABOUT_A_SECOND_MS);
    expectFailures(await failuresOf(stash), 'unreachable');
    expect(Date.now() - begun).toBeLessThan(2 * ABOUT_A_SECOND_MS);
    redis.thaw();
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it('is unreachable while Redis is stopped, and works again afterwards', async () => {
    const stash = aStash(redis.url);
    await stash.put({ ...owner, card: TEST_CARD });
    await redis.stop();
    const begun = Date.now();
    expectFailures(await failuresOf(stash), 'unreachable');
    expectFailures(await failuresOf(stash), 'unreachable');
    expect(Date.now() - begun).toBeLessThan(ABOUT_A_SECOND_MS);
    await redis.start();
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it('does not notice a Redis that was started anew between two calls', async () => {
    const stash = aStash(redis.url);
    await stash.put({ ...owner, card: TEST_CARD });
    await redis.stop();
    await redis.start();
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it('does not notice that its connection was cut', async () => {
    const stash = aStash(redis.url);
    const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
    await (await admin()).sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it('shares one connection between calls at once', async () => {
    const client = await admin();
    const connections = async () => (await client.sendCommand(['CLIENT', 'LIST'])) as unknown as string;
    const count = async () => (await connections()).trim().split('\n').length;
    const before = await count();
    const stash = aStash(redis.url);
    await Promise.all(Array.from({ length: 50 }, () => stash.put({ ...owner, card: TEST_CARD })));
    expect(await count()).toBe(before + 1);
  });

  it('says that it is refused when the password is wrong, with the code alone', async () => {
    const stash = aStash(redis.url.replace(password, 'another-do-not-print-me'));
    const failures = await failuresOf(stash);
    expectFailures(failures, 'refused');
    expect(String(failures[0])).toContain('WRONGPASS');
  });

  it('is unreachable once it was closed, and may be closed again', async () => {
    const stash = aStash(redis.url);
    await stash.put({ ...owner, card: TEST_CARD });
    await stash.close();
    expectFailures(await failuresOf(stash), 'unreachable');
    await stash.close();
  });
});

describe('a card stash without a Redis', () => {
  it('is made without connecting, and is unreachable at the first call', async () => {
    const stash = aStash(`redis://:${password}@127.0.0.1:${await freePort()}`);
    expectFailures(await failuresOf(stash), 'unreachable');
  });

  it('is unreachable in about a second where something else listens and says nothing', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const begun = Date.now();
    const stashes = [`redis://:${password}@127.0.0.1:${port}`, `redis://127.0.0.1:${port}`].map((url) =>
      aStash(url),
    );
    for (const failures of await Promise.all(stashes.map(failuresOf)))
      expectFailures(failures, 'unreachable');
    expect(Date.now() - begun).toBeLessThan(ABOUT_A_SECOND_MS);
  });
});

/** A value in plain, and in base64 at each of the three places that it can have among other bytes. */
function formsOf(value: string): string[] {
  const encoded = [0, 1, 2].map((shift) => {
    const all = Buffer.from(`${'x'.repeat(shift)}${value}`).toString('base64');
    // The ends mix with what stands beside the value.
    return all.slice(shift === 0 ? 0 : 4, Math.floor(((shift + value.length) * 8) / 24) * 4);
  });
  return [value, value.replace(/\D/g, ''), ...encoded].filter((form) => form.length > 3);
}
