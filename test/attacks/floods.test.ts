import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  API_WITHOUT_TEMPORAL,
  freePort,
  type SpawnedProcess,
  spawnForTest,
  spawnProcess,
} from '../support/index.ts';

/** Another number shows more: `FLOOD_CONNECTIONS=10000`. */
const CONNECTIONS = Number(process.env.FLOOD_CONNECTIONS ?? 2_000);
/** What anybody else may wait, beside what they wait on this machine while there is no flood. In milliseconds. */
const MOST_MS = 250;
const ASKED = 150;
const PAUSE_MS = 10;

const keys = { shop: randomBytes(16).toString('hex'), flood: randomBytes(16).toString('hex') };
let port: number;
let api: SpawnedProcess;
/** What was waited at best while there was no flood. */
let quiet = Infinity;

beforeAll(async () => {
  port = await freePort();
  api = await spawnProcess('src/api.ts', {
    env: {
      ...API_WITHOUT_TEMPORAL,
      API_PORT: String(port),
      API_KEYS: Object.entries(keys)
        .map((pair) => pair.join(':'))
        .join(','),
    },
    readyWhen: /Server listening/,
  });
  for (let times = 0; times < 3; times += 1) quiet = Math.min(quiet, await waited());
}, 60_000);
afterAll(async () => {
  await api?.stop();
});

/** Asks for what needs a key and a reader of bodies, but no Temporal. @returns how long 99 in 100 waited, in milliseconds */
async function waited(): Promise<number> {
  const times: number[] = [];
  const headers = { authorization: `Bearer ${keys.shop}`, 'content-type': 'application/json' };
  for (let count = 0; count < ASKED; count += 1) {
    const begin = performance.now();
    const url = `http://127.0.0.1:${port}/v1/orders/order-1/cancel`;
    const response = await fetch(url, { method: 'POST', headers, body: '{"unknown":1}' });
    await response.text();
    times.push(performance.now() - begin);
    expect(response.status).toBe(422);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return times.sort((one, other) => one - other)[Math.floor(ASKED * 0.99)] ?? Infinity;
}

it.each([
  ['slow bodies', CONNECTIONS, []],
  ['connections', CONNECTIONS, []],
  ['deep', 4, [422, 429]],
  ['wide', 4, [422, 429]],
  ['repeated keys', 4, [422, 429]],
  ['a long string', 4, [422, 429]],
  ['compressed', 4, [415, 429]],
  ['wrong keys', 16, [401]],
] as const)(
  'a flood of %s keeps nobody else waiting',
  { timeout: 120_000 },
  async (kind, count, statuses) => {
    const flood = await spawnForTest('test/attacks/flood.ts', {
      args: [String(port), kind, String(count), keys.flood],
      readyWhen: /flooding/,
      readyWithinMs: 60_000,
    });
    const flooded = await waited();
    await flood.stop();
    const [, answered = '{}'] = /flooding\n(.*)/.exec(flood.output()) ?? [];
    if (process.env.FLOOD_CONNECTIONS !== undefined) {
      console.log(
        `${kind}: ${count} connections, p99 ${Math.round(flooded)} ms, ${Math.round(quiet)} ms before`,
      );
    }
    const told = Object.keys(JSON.parse(answered) as object).map(Number);
    for (const status of told) expect(statuses).toContain(status);
    expect(told.length > 0).toBe(statuses.length > 0);
    expect(flooded).toBeLessThan(MOST_MS + quiet);
  },
);
