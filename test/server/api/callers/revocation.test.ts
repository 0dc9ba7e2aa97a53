/** Keys of a file that change while the API runs: a real process, which is never restarted. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPayloadCodec } from '../../../../src/codec/index.ts';
import { hashedKey } from '../../../../src/config/index.ts';
import {
  API_WITHOUT_TEMPORAL,
  eventually,
  freePort,
  type GivenKey,
  keysFile,
  spawnForTest,
} from '../../../support/index.ts';
import { anApi } from '../fake-order-screening.ts';

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
    env: { ...API_WITHOUT_TEMPORAL, API_KEYS_FILE: file, API_PORT: String(port) },
    readyWhen: /Server listening/,
  });
  /** A key that is let in is told what is wrong with its request: 422. */
  const statusOf = async ({ key }: GivenKey) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`http://127.0.0.1:${port}/v1/orders/order-1?view=none`, { headers })).status;
  };
  /** What the metrics say of the file: 1, it is refused. */
  const refusedMetric = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^order_screening_api_keys_refused (\d)$/m.exec(metrics)?.[1];
  };
  return { api, file, folder, statusOf, refusedMetric };
}

describe('keys of a file', { timeout: 120_000 }, () => {
  it('are refused within 5 s of being taken out, and let in when they are new, however the file changes', async () => {
    const { api, file, folder, statusOf } = await anApiProcess(SHOP, OPS);
    expect([await statusOf(SHOP), await statusOf(OPS)]).toEqual([422, 422]);
    // Nothing has changed, so that only the signal has it read, which stops nothing.
    api.kill('SIGHUP');
    await eventually(() => expect(api.output()).toContain('the API keys were read again'), WITHIN);
    expect(await statusOf(SHOP)).toBe(422);
    const another = join(folder, 'another');
    // As a secret store does it.
    const link = () => {
      symlinkSync(another, `${another}-link`);
      renameSync(`${another}-link`, file);
    };
    const changes: [who: GivenKey, other: GivenKey, change: () => void][] = [
      [OPS, SHOP, () => writeFileSync(file, keysFile(OPS))],
      [SHOP, OPS, () => renameSync(another, file)],
      [OPS, SHOP, link],
    ];
    for (const [who, other, change] of changes) {
      writeFileSync(another, keysFile(who));
      change();
      await eventually(async () => expect(await statusOf(other)).toBe(401), WITHIN);
      expect(await statusOf(who)).toBe(422);
    }
    expect(api.output()).not.toMatch(/the-key-of/);
  });

  it('stay valid when the file is broken or gone, which log and metric say', async () => {
    const { api, file, statusOf, refusedMetric } = await anApiProcess(SHOP, OPS);
    expect(await refusedMetric()).toBe('0');
    for (const [spoil, words] of [
      [() => writeFileSync(file, '[{"name": "shop", '), 'names a file that is not JSON'],
      [() => writeFileSync(file, '[]'), 'names a file without a key'],
      [() => rmSync(file), "names a file that can't be read (ENOENT)"],
    ] as const) {
      spoil();
      await eventually(() => expect(api.output()).toContain(`API_KEYS_FILE ${words}`), WITHIN);
      expect([await statusOf(SHOP), await statusOf(OPS)]).toEqual([422, 422]);
      expect(await refusedMetric()).toBe('1');
    }
    writeFileSync(file, keysFile(OPS));
    await eventually(async () => expect(await statusOf(SHOP)).toBe(401), WITHIN);
    expect(await statusOf(OPS)).toBe(422);
    expect(await refusedMetric()).toBe('0');
  });
});

it('wrong keys are answered late once an address has sent many; no right key is, and no other address', async () => {
  const { app } = await anApi({ apiKeys: [hashedKey('shop', SHOP.key)], maxRps: 10_000 });
  const ask = async (key: string, remoteAddress: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await app.inject({ url: '/v1/orders/order-1', remoteAddress, headers })).statusCode;
  };
  for (let count = 0; count < 20; count += 1) expect(await ask('wrong', '192.0.2.1')).toBe(401);
  const begun = performance.now();
  let lateMs = 0;
  const late = ask('wrong', '192.0.2.1').then((status) => {
    lateMs = performance.now() - begun;
    return status;
  });
  const right = Array.from({ length: 20 }, () => ask(SHOP.key, '192.0.2.1'));
  expect(new Set(await Promise.all(right))).toEqual(new Set([200]));
  expect(await ask('wrong', '192.0.2.2')).toBe(401);
  expect(lateMs).toBe(0);
  expect(await late).toBe(401);
  expect(lateMs).toBeGreaterThan(900);
});

it.each(['203.0.113.8:PORT', '[2001:db8::PORT]:PORT'])(
  'wrong keys count together whatever port a proxy names with the address: %s',
  async (forwarded) => {
    const { app } = await anApi({
      apiKeys: [hashedKey('shop', SHOP.key)],
      maxRps: 10_000,
      trustProxy: ['127.0.0.1'],
    });
    const msOf = async (port: number) => {
      const begun = performance.now();
      const headers = {
        authorization: 'Bearer wrong',
        'x-forwarded-for': forwarded.replaceAll('PORT', `${port}`),
      };
      expect((await app.inject({ url: '/v1/orders/order-1', headers })).statusCode).toBe(401);
      return performance.now() - begun;
    };
    for (let port = 1; port <= 20; port += 1) await msOf(port);
    expect(await msOf(21)).toBeGreaterThan(900);
  },
);

it('wrong webhook secrets and codec tokens are answered late, too, in one count with wrong keys', async () => {
  const codec = {
    codec: createPayloadCodec([{ id: 'a', key: randomBytes(32) }]),
    origins: [],
    token: 'right',
  };
  const { app } = await anApi({ codec, webhookSecrets: ['right'], maxRps: 10_000 });
  const wrong = ['/v1/webhooks/default/wrong', '/codec/wrong/decode'];
  const ask = async (url: string) => {
    const begun = performance.now();
    expect((await app.inject({ method: 'POST', url, payload: {} })).statusCode).toBe(401);
    return performance.now() - begun;
  };
  for (let count = 0; count < 10; count += 1) for (const url of wrong) await ask(url);
  for (const url of wrong) expect(await ask(url)).toBeGreaterThan(900);
});
