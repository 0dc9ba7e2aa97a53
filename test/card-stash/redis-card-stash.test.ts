import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createClient } from 'redis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  CARD_LIFETIME_MS,
  type CardStash,
  CardStashError,
  createCardStash,
  inspectRedis,
} from '../../src/card-stash/index.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';
import { sightings } from '../support/canaries.ts';
import { listen } from '../support/index.ts';
import { withRedis } from '../support/servers/redis-server.ts';

const owner = { integration: 'default', orderId: 'order-1' };
const oldKey = { id: 'old', key: randomBytes(32) };
const newKey = { id: 'new', key: randomBytes(32) };
const password = 'do-not-print-me';

/** Beyond the second that a call may take: for a machine that has other things to do. */
const ABOUT_A_SECOND_MS = 3_000;

const redis = withRedis({ password });

function aStash(url = redis.url, keys = [oldKey]): CardStash {
  const stash = createCardStash(url, keys);
  onTestFinished(() => stash.close());
  return stash;
}

async function stashWithCard(url?: string) {
  const stash = aStash(url);
  return { stash, ...(await stash.put({ ...owner, card: TEST_CARD })) };
}

function admin() {
  const client = createClient({ url: redis.url });
  // A test may stop Redis.
  client.on('error', () => undefined);
  onTestFinished(() => client.destroy());
  return client.connect();
}

/** Calls all three methods, and expects each to be refused, without address, password and card. */
async function expectFailures(stash: CardStash, reason: string, words = ''): Promise<void> {
  const calls: Promise<unknown>[] = [
    stash.put({ ...owner, card: TEST_CARD }),
    stash.get({ ...owner, cardRef: 'card_1' }),
    stash.forget('card_1'),
  ];
  for (const failure of await Promise.all(calls.map((call) => call.catch((error: unknown) => error)))) {
    if (!(failure instanceof CardStashError)) throw new Error('no failure of the stash');
    expect(failure).toMatchObject({ reason, message: expect.stringContaining(words) });
    expect(failure.cause).toBeUndefined();
    const shown = `${failure} ${failure.stack?.split('\n')[0]} ${JSON.stringify(failure)}`;
    expect(shown).not.toMatch(/redis:|127\.0\.0\.1|do-not-print-me|4111/);
  }
}

describe.each(['memory', 'Redis'])('a card stash in %s', (where) => {
  const url = () => (where === 'memory' ? 'memory:' : redis.url);

  it('gives a card back again and again, to the order it was put in for, until it is forgotten', async () => {
    const { stash, cardRef } = await stashWithCard(url());
    expect(cardRef).toMatch(/^card_[\w-]{24}$/);
    expect((await stash.put({ ...owner, card: TEST_CARD })).cardRef).not.toBe(cardRef);
    for (const other of [{ orderId: 'order-2' }, { integration: 'outlet' }]) {
      expect(await stash.get({ ...owner, ...other, cardRef })).toBeUndefined();
    }
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    await stash.forget(cardRef);
    await stash.forget('card_unknown');
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  });
});

describe('a card stash in Redis', () => {
  it('notices a user who may not read cards', async () => {
    const rules = ['reset', 'on', `>${password}`, '~card:*', '+set', '+del', '+hello', '+select', '+ping'];
    await (await admin()).sendCommand(['ACL', 'SETUSER', 'writer', ...rules]);
    const inspected = inspectRedis(redis.url.replace('://:', '://writer:'));
    await expect(inspected).rejects.toMatchObject({ reason: 'refused' });
  });

  it('needs no more of Redis than three commands on keys of its own', async () => {
    const rules = ['reset', 'on', `>${password}`, '~card:*', '+set', '+get', '+del', '+hello', '+select'];
    await (await admin()).sendCommand(['ACL', 'SETUSER', 'stash', ...rules]);
    const { stash, cardRef } = await stashWithCard(redis.url.replace('://:', '://stash:'));
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    await stash.forget(cardRef);
    expect(await (await admin()).exists(`card:${cardRef}`)).toBe(0);
  });

  it('lets Redis delete a card within 15 minutes, says when, and opens none after', async () => {
    const before = Date.now();
    const { stash, cardRef, expiresAt } = await stashWithCard();
    const lifetime = Date.parse(expiresAt) - before;
    expect(lifetime).toBeGreaterThanOrEqual(CARD_LIFETIME_MS);
    expect(lifetime).toBeLessThan(CARD_LIFETIME_MS + ABOUT_A_SECOND_MS);
    const client = await admin();
    const left = await client.pTTL(`card:${cardRef}`);
    expect(left).toBeGreaterThan(CARD_LIFETIME_MS - 60_000);
    expect(left).toBeLessThanOrEqual(CARD_LIFETIME_MS);
    await client.persist(`card:${cardRef}`);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(expiresAt) - 1_000 });
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    // The card is gone only once Redis has deleted it: this process's clock may be fast.
    vi.setSystemTime(Date.parse(expiresAt));
    await expect(stash.get({ ...owner, cardRef })).rejects.toMatchObject({
      name: 'CardStashError',
      reason: 'clock',
    });
    await client.del(`card:${cardRef}`);
    expect(await stash.get({ ...owner, cardRef })).toBeUndefined();
  });

  it('takes an answer that came while the process was held up for longer than a call may take', async () => {
    const { stash, cardRef } = await stashWithCard();
    await (await admin()).sendCommand(['CLIENT', 'PAUSE', '400', 'ALL']);
    const asked = stash.get({ ...owner, cardRef });
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    const until = Date.now() + 1_500;
    while (Date.now() < until);
    expect(await asked).toEqual(TEST_CARD);
  });

  it('opens cards of any process with the key, and says which key it lacks, by its id', async () => {
    const { cardRef } = await stashWithCard();
    expect(await aStash(redis.url, [newKey, oldKey]).get({ ...owner, cardRef })).toEqual(TEST_CARD);
    const message = expect.stringContaining('"old"');
    const lacking = aStash(redis.url, [newKey]).get({ ...owner, cardRef });
    await expect(lacking).rejects.toMatchObject({ name: 'CardStashError', reason: 'unknown-key', message });
  });

  it.each(['', 'nonsense', 'old.AAAA.BBBB.CCCC', `old.${'A'.repeat(16)}.${'A'.repeat(22)}.AAAA`])(
    'gives no card for a value that nobody sealed: "%s"',
    async (value) => {
      await (await admin()).set('card:card_forged', value);
      expect(await aStash().get({ ...owner, cardRef: 'card_forged' })).toBeUndefined();
    },
  );

  it('leaves nothing of a card in Redis that can be read, in plain or in base64', async () => {
    const client = await admin();
    await client.flushAll();
    const { cardRef } = await stashWithCard();
    expect(await client.keys('*')).toEqual([`card:${cardRef}`]);
    const [stored = ''] = await client.mGet([`card:${cardRef}`]);
    const parts = (stored ?? '').split('.').map((part) => Buffer.from(part, 'base64'));
    const places = [Buffer.from(stored ?? ''), ...parts].map((bytes) => ({ name: 'Redis', bytes }));
    // Three digits alone turn up in random bytes: the code is looked for with its name.
    const { cardNumber, expirationDate } = TEST_CARD;
    const texts = [cardNumber, expirationDate, '"cardCode":"123"', 'cardCode', owner.orderId];
    expect(
      sightings(
        places,
        texts.map((text) => ({ name: text, text })),
      ),
    ).toEqual([]);
  });

  it('is unreachable about a second after Redis fell silent, and works again when it answers', async () => {
    const { stash, cardRef } = await stashWithCard();
    redis.freeze();
    onTestFinished(() => redis.thaw());
    const begun = Date.now();
    // The first call has an open connection, the next ones need a new one.
    await expectFailures(stash, 'unreachable');
    await expectFailures(stash, 'unreachable');
    expect(Date.now() - begun).toBeLessThan(2 * ABOUT_A_SECOND_MS);
    redis.thaw();
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it('is unreachable while Redis is stopped, and works again afterwards, each time', async () => {
    const { stash } = await stashWithCard();
    for (const _time of [1, 2, 3]) {
      await redis.stop();
      const begun = Date.now();
      // They wait for a connection, and are dropped together.
      await expectFailures(stash, 'unreachable');
      expect(Date.now() - begun).toBeLessThan(ABOUT_A_SECOND_MS);
      await redis.start();
      const { cardRef } = await stash.put({ ...owner, card: TEST_CARD });
      expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
    }
  });

  it('does not notice that its connection was cut between two calls', async () => {
    const { stash, cardRef } = await stashWithCard();
    await (await admin()).sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    expect(await stash.get({ ...owner, cardRef })).toEqual(TEST_CARD);
  });

  it('shares one connection between calls at once', async () => {
    const client = await admin();
    const count = async () =>
      String(await client.sendCommand(['CLIENT', 'LIST']))
        .trim()
        .split('\n').length;
    const before = await count();
    const stash = aStash();
    await Promise.all(Array.from({ length: 50 }, () => stash.put({ ...owner, card: TEST_CARD })));
    expect(await count()).toBe(before + 1);
  });

  it('says that it is refused when the password is wrong, with the code alone', async () => {
    const stash = aStash(redis.url.replace(password, 'another-do-not-print-me'));
    await expectFailures(stash, 'refused', 'WRONGPASS');
  });

  it('is unreachable once it was closed, and may be closed again', async () => {
    const { stash } = await stashWithCard();
    await stash.close();
    await expectFailures(stash, 'unreachable');
  });

  it('is named in the TLS handshake, by which a proxy or a cluster finds it', async () => {
    let hello = Buffer.alloc(0);
    const port = await listen((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (data) => {
        hello = data;
        socket.destroy();
      });
    });
    await expectFailures(aStash(`rediss://:${password}@localhost:${port}`), 'unreachable');
    expect(hello.includes('localhost')).toBe(true);
  });

  it('is unreachable in about a second where something else says nothing', async () => {
    const port = await listen((socket) => socket.on('error', () => undefined));
    const begun = Date.now();
    const urls = [`redis://:${password}@localhost:${port}`, `redis://localhost:${port}`];
    await Promise.all(urls.map((url) => expectFailures(aStash(url), 'unreachable')));
    expect(Date.now() - begun).toBeLessThan(ABOUT_A_SECOND_MS);
  });
});
