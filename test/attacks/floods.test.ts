import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  API_WITHOUT_TEMPORAL,
  freePort,
  type SpawnedProcess,
  spawnForTest,
  spawnProcess,
} from '../support/index.ts';

const CONNECTIONS = 2_000;
/** How long other callers may wait, in milliseconds. */
const MOST_MS = 100;
/** On a busy machine longer: by so many times what callers of a process without a flood wait at the same time. */
const MOST_TIMES = 10;
const ASKED = 150;
const PAUSE_MS = 10;

const keys = { shop: randomBytes(16).toString('hex'), flood: randomBytes(16).toString('hex') };

/** An API process of its own. @returns its port */
async function startApi(): Promise<number> {
  const port = await freePort();
  const API_KEYS = `shop:${keys.shop},flood:${keys.flood}`;
  const api = await spawnProcess('src/api.ts', {
    env: { ...API_WITHOUT_TEMPORAL, API_PORT: String(port), API_KEYS },
    readyWhen: /Server listening/,
  });
  processes.push(api);
  return port;
}

const processes: SpawnedProcess[] = [];
let [flooded, quiet] = [0, 0];
beforeAll(async () => {
  [flooded, quiet] = await Promise.all([startApi(), startApi()]);
}, 60_000);
afterAll(async () => {
  await Promise.all(processes.map((process) => process.stop()));
});

/** How long 99 in 100 waited, in milliseconds. */
interface Waited {
  flooded: number;
  quiet: number;
}

/** Asks both processes in turn. */
async function waited(): Promise<Waited> {
  const times: { flooded: number[]; quiet: number[] } = { flooded: [], quiet: [] };
  for (let count = 0; count < ASKED; count += 1) {
    times.quiet.push(await ask(quiet));
    times.flooded.push(await ask(flooded));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return { flooded: of99In100(times.flooded), quiet: of99In100(times.quiet) };
}

/** Asks for what needs a key and a reader of bodies, but no Temporal. @returns milliseconds */
async function ask(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${keys.shop}`, 'content-type': 'application/json' };
  const begin = performance.now();
  const url = `http://127.0.0.1:${port}/v1/orders/order-1/cancel`;
  const response = await fetch(url, { method: 'POST', headers, body: '{"unknown":1}' });
  await response.text();
  expect(response.status).toBe(422);
  return performance.now() - begin;
}

function of99In100(times: readonly number[]): number {
  return [...times].sort((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? Infinity;
}

it.each([
  ['slow bodies', CONNECTIONS, []],
  ['connections', CONNECTIONS, []],
  ['wide', 4, [422, 429]],
  ['compressed', 4, [415, 429]],
  ['largest checkouts', 4, [503, 429]],
  ['wrong keys', 16, [401]],
] as const)(
  'a flood of %s keeps nobody else waiting',
  { timeout: 120_000 },
  async (kind, count, statuses) => {
    const flood = await spawnForTest('test/attacks/flood.ts', {
      args: [String(flooded), kind, String(count), keys.flood],
      readyWhen: /flooding/,
      readyWithinMs: 60_000,
    });
    const most = ({ quiet }: Waited) => MOST_MS + MOST_TIMES * quiet;
    let p99 = await waited();
    // A machine that was busy for a moment isn't so each time.
    for (let again = 0; again < 2 && p99.flooded >= most(p99); again += 1) p99 = await waited();
    await flood.stop();
    const [, answered = '{}'] = /flooding\n(.*)/.exec(flood.output()) ?? [];
    const told = Object.keys(JSON.parse(answered) as object).map(Number);
    for (const status of told) expect(statuses).toContain(status);
    expect(told.length > 0).toBe(statuses.length > 0);
    console.log(
      `${kind}: others wait ${p99.flooded.toFixed()} ms, without a flood ${p99.quiet.toFixed()} ms`,
    );
    expect(p99.flooded).toBeLessThan(most(p99));
  },
);
