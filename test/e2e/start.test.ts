import { exec } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, listen, type SpawnedProcess, spawnProcess } from '../support/index.ts';

const SAMPLES = [
  ['sample-pass', 'pre-acceptance', 'pass', 'proceed'],
  ['sample-fail', 'pre-acceptance', 'fail', 'decline'],
  ['sample-review', 'pre-acceptance', 'review', 'hold'],
  ['sample-fraudulent', 'post-acceptance', 'fraudulent', 'cancel'],
  ['sample-error', 'pre-acceptance', 'error', 'hold'],
  ['sample-pre-gateway', 'pre-gateway', 'pass', 'proceed'],
] as const;

const API_KEY = 'a-key-of-the-shop';
const PORTS = ['TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'SANDBOX_PORT', 'API_PORT', 'METRICS_PORT'];

/** A first start may have to build the Temporal server. */
const FIRST_START_MS = 600_000;

let dataDir: string;
let env: Record<string, string>;
let secrets: string[];
let stack: SpawnedProcess;

const freePorts = async (): Promise<Record<string, string>> =>
  Object.fromEntries(await Promise.all(PORTS.map(async (name) => [name, String(await freePort())])));

const start = () =>
  spawnProcess('src/start.ts', { env, readyWhen: /Stop with Ctrl-C/, readyWithinMs: FIRST_START_MS });

/** What the first start makes: the keys that the database is encrypted with, and the token of the UI's way to decrypt. */
const SECRETS = ['payload-keys', 'codec-token'];

const readSecrets = () =>
  Promise.all(SECRETS.map(async (name) => (await readFile(join(dataDir, name), 'utf8')).trim()));

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'order-screening-start-'));
  env = { DATA_DIR: dataDir, ...(await freePorts()) };
  stack = await start();
}, FIRST_START_MS);

afterAll(async () => {
  await stack?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

describe('npm start', () => {
  it('shows each sample order with decision, action and time taken, and no error', () => {
    const output = stack.output();
    for (const cells of SAMPLES)
      expect(output).toMatch(new RegExp(`${cells.join('\\s+│\\s+')}\\s+│\\s+\\d+ ms`));
    expect(output).not.toMatch(/error:|"level":[56]0|exception|unhandled/i);
  });

  it('prints addresses that answer', async () => {
    const pages = stack.output().match(/(?:Temporal UI|Order queue|API|Sandbox) +(http\S+)/g) ?? [];
    expect(pages).toHaveLength(4);
    for (const page of pages) {
      const response = await fetch(page.replace(/^.*?(?=http)/, ''));
      expect(response.status).toBe(200);
    }
  });

  it('prints three lines that work when pasted: screen, decide the review, see it resolved', async () => {
    const lines = stack.output().match(/^ {2}(?:sleep 1; )?curl .*$/gm) ?? [];
    const paste = async (line: string | undefined) => JSON.parse((await promisify(exec)(line ?? '')).stdout);
    expect(lines).toHaveLength(3);
    expect(await paste(lines[0])).toMatchObject({ orderId: '1001', decision: 'review', action: 'hold' });
    expect(await paste(lines[1])).toMatchObject([{ invoiceNumber: '1001', decision: 'pass' }]);
    expect(await paste(lines[2])).toMatchObject({ phase: 'decided', decision: 'pass', action: 'proceed' });
  });

  it('keeps no word of an order in the database, whose keys only the owner of the folder reads', async () => {
    for (const name of SECRETS) expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
    secrets = await readSecrets();
    const files = ['temporal.db', 'temporal.db-wal'].map((name) => readFile(join(dataDir, name)));
    const database = Buffer.concat(await Promise.all(files));
    expect(database.includes('sample-review')).toBe(true);
    for (const words of ['review@example.com', 'Springfield', 'customer-review', '203.0.113.24'])
      expect(database.includes(words), words).toBe(false);
  });

  it('gives the UI an address at which an order can be read', async () => {
    const origin = `http://127.0.0.1:${env.TEMPORAL_UI_PORT}`;
    const ask = async (path: string) => Object(await (await fetch(`${origin}/api/v1/${path}`)).json());
    const { Endpoint } = (await ask('settings')).Codec;
    expect(Endpoint).toContain(secrets[1]);
    const { history } = await ask('namespaces/default/workflows/order%3Adefault%3Asample-review/history');
    const { payloads } = history.events[0].workflowExecutionStartedEventAttributes.input;
    const decoded = await fetch(`${Endpoint}/decode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': 'default', origin },
      body: JSON.stringify({ payloads }),
    });
    expect(decoded.headers.get('access-control-allow-origin')).toBe(origin);
    const [argument] = ((await decoded.json()) as { payloads: { data: string }[] }).payloads;
    expect(Buffer.from(argument?.data ?? '', 'base64').toString()).toContain('review@example.com');
  });

  it('says which port is taken and which variable changes it', async () => {
    const port = await listen();
    const refused = async (variable: string) => {
      const blocked = { ...(await freePorts()), DATA_DIR: dataDir, [variable]: String(port) };
      const second = await spawnProcess('src/start.ts', { env: blocked });
      expect(await second.ended).toBe(1);
      expect(second.output()).toContain(String(port));
      expect(second.output()).toContain(variable);
    };
    await Promise.all(PORTS.map(refused));
  });

  it('stops while it screens the sample orders, without the addresses of what has stopped', async () => {
    const ports = await freePorts();
    const other = { ...ports, DATA_DIR: join(dataDir, 'other') };
    const begun = await spawnProcess('src/start.ts', { env: other, readyWhen: /Starting the worker/ });
    const address = `http://127.0.0.1:${ports.API_PORT}/docs`;
    while (!(await fetch(address).catch(() => undefined))) await sleep(20);
    begun.kill('SIGINT');
    expect(await begun.ended).toBe(0);
    expect(begun.output()).toMatch(/Stopped/);
    expect(begun.output()).not.toMatch(/Sample orders|Stop with Ctrl-C/);
  });

  it('stops within ten seconds and goes on with the same orders at the next start, with API keys too', async () => {
    const begin = Date.now();
    stack.kill('SIGINT');
    expect(await stack.ended).toBe(0);
    expect(Date.now() - begin).toBeLessThan(10_000);

    env = { ...env, API_KEYS: `shop:${API_KEY}` };
    stack = await start();
    expect(await readSecrets()).toEqual(secrets);
    const ledger = `http://127.0.0.1:${env.SANDBOX_PORT}/_sandbox/ledger?operation=create-transaction`;
    const entries = (await (await fetch(ledger)).json()) as { invoiceNumber: string }[];
    const created = entries.flatMap(({ invoiceNumber: one }) => (one === 'sample-error' ? [] : [one]));
    expect(created).toEqual([...new Set(created)]);
    for (const cells of SAMPLES) expect(stack.output()).toMatch(new RegExp(cells.join('\\s+│\\s+')));
    const address = `http://127.0.0.1:${env.API_PORT}/v1/orders/1001`;
    expect((await fetch(address)).status).toBe(401);
    const order = await fetch(address, { headers: { authorization: `Bearer ${API_KEY}` } });
    expect(await order.json()).toMatchObject({ phase: 'decided', decision: 'pass' });
  });
});
