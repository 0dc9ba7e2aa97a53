/** Keys of a file that change while the API runs: a real process, which is never restarted. */
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import {
  API_WITHOUT_TEMPORAL,
  eventually,
  freePort,
  type GivenKey,
  keysFile,
  spawnForTest,
} from '../support/index.ts';
import { anApi } from './fake-order-screening.ts';

const SHOP = { name: 'shop', key: 'the-key-of-the-shop-in-the-file' };
const OPS = { name: 'ops', key: 'the-key-of-ops-in-the-file' };
const WITHIN = { timeoutMs: 5_000 };

async function anApiProcess(...keys: GivenKey[]) {
  const folder = mkdtempSync(join(tmpdir(), 'order-screening-revocation-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'keys.json');
  writeFileSync(file, keysFile(...keys));
  const port = await freePort();
  const api = await spawnForTest('src/api.ts', {
    env: {
      ...API_WITHOUT_TEMPORAL,
      API_KEYS_FILE: file,
      API_PORT: String(port),
    },
    readyWhen: /Server listening/,
  });
  /** A key that is let in is told what is wrong with its request: 422. */
  const statusOf = async ({ key }: GivenKey) =>
    (
      await fetch(`http://127.0.0.1:${port}/v1/orders?limit=none`, {
        headers: { authorization: `Bearer ${key}` },
      })
    ).status;
  /** What the metrics say of the file: 1, it is refused. */
  const refusedMetric = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^order_screening_api_keys_refused (\d)$/m.exec(metrics)?.[1];
  };
  return { api, file, folder, statusOf, refusedMetric };
}

describe('a key that is taken out of the file', () => {
  it('is refused within 5 s, the others go on, and a new one is let in, however the file changes', async () => {
    const { api, file, folder, statusOf } = await anApiProcess(SHOP, OPS);
    expect([await statusOf(SHOP), await statusOf(OPS)]).toEqual([422, 422]);
    // Nothing has changed, so that only the signal has it read, which stops nothing.
    api.kill('SIGHUP');
    await eventually(() => expect(api.output()).toContain('the API keys were read again'), WITHIN);
    expect(await statusOf(SHOP)).toBe(422);
    const another = join(folder, 'another');
    const changes: [who: GivenKey, other: GivenKey, change: () => void][] = [
      [OPS, SHOP, () => writeFileSync(file, keysFile(OPS))],
      [SHOP, OPS, () => renameSync(another, file)],
      // As a secret store does it.
      [OPS, SHOP, () => linkTo(another, file)],
    ];
    for (const [who, other, change] of changes) {
      writeFileSync(another, keysFile(who));
      change();
      await eventually(async () => expect(await statusOf(other)).toBe(401), WITHIN);
      expect(await statusOf(who)).toBe(422);
    }
    expect(api.output()).not.toMatch(/the-key-of/);
    api.kill('SIGTERM');
    expect(await api.ended).toBe(0);
  }, 60_000);

  function linkTo(content: string, file: string): void {
    symlinkSync(content, `${content}-link`);
    renameSync(`${content}-link`, file);
  }
});

describe('a file that is broken, or gone', () => {
  it('is refused in clear words, and the last good keys stay', async () => {
    const { api, file, statusOf, refusedMetric } = await anApiProcess(SHOP, OPS);
    expect(await refusedMetric()).toBe('0');
    const refused = () => api.output().match(/the file of API keys is refused/g)?.length ?? 0;
    const spoilings = [
      () => writeFileSync(file, '[{"name": "shop", '),
      () => writeFileSync(file, '[]'),
      () => rmSync(file),
    ];
    for (const [index, spoil] of spoilings.entries()) {
      spoil();
      await eventually(() => expect(refused()).toBeGreaterThan(index), WITHIN);
      expect([await statusOf(SHOP), await statusOf(OPS)]).toEqual([422, 422]);
      expect(await refusedMetric()).toBe('1');
    }
    expect(api.output()).toContain('API_KEYS_FILE names a file that is not JSON');
    expect(api.output()).toContain('API_KEYS_FILE names a file without a key');
    expect(api.output()).toContain("API_KEYS_FILE names a file that can't be read (ENOENT)");
    writeFileSync(file, keysFile(OPS));
    await eventually(async () => expect(await statusOf(SHOP)).toBe(401), WITHIN);
    expect(await statusOf(OPS)).toBe(422);
    expect(await refusedMetric()).toBe('0');
  }, 60_000);
});

describe('wrong keys', () => {
  it('are answered late once an address has sent many, and a right one from there never is', async () => {
    const { app } = await anApi({ apiKeys: [hashedKey('shop', SHOP.key)], maxRps: 10_000 });
    const ask = async (key: string) => {
      const begun = performance.now();
      const { statusCode } = await app.inject({
        url: '/v1/orders',
        headers: { authorization: `Bearer ${key}` },
      });
      return { statusCode, tookMs: performance.now() - begun };
    };
    for (let count = 0; count < 20; count += 1) expect((await ask('wrong')).statusCode).toBe(401);
    let late = false;
    const wrong = ask('wrong').then((answer) => {
      late = true;
      return answer;
    });
    // Many, one after the other, while the wrong one waits.
    for (let count = 0; count < 20; count += 1) expect((await ask(SHOP.key)).statusCode).toBe(200);
    expect(late).toBe(false);
    const answer = await wrong;
    expect(answer.statusCode).toBe(401);
    expect(answer.tookMs).toBeGreaterThan(900);
  });

  it('of one address slow no other', async () => {
    const { app } = await anApi({ apiKeys: [hashedKey('shop', SHOP.key)] });
    const ask = (remoteAddress: string) =>
      app.inject({ url: '/v1/orders', remoteAddress, headers: { authorization: 'Bearer wrong' } });
    await Promise.all(Array.from({ length: 20 }, () => ask('192.0.2.1')));
    let late = false;
    const slowed = ask('192.0.2.1').then(() => {
      late = true;
    });
    expect((await ask('192.0.2.2')).statusCode).toBe(401);
    expect(late).toBe(false);
    await slowed;
  });
});
