/** A whole deployment for a test file: sandbox, worker process, API process, events receiver, on a dev server. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/create-sandbox.ts';
import type { LedgerOperation } from '../../src/sandbox/model.ts';
import { withEmail } from '../fixtures/transactions.ts';
import {
  eventually,
  freePort,
  type GivenKey,
  keysFile,
  type SpawnedProcess,
  spawnProcess,
} from '../support/index.ts';
import { type Contract, createContract, type OpenApi } from '../support/openapi-contract.ts';
import { EVENTS_SECRET, type ReceivedEvent, startReceiver } from './receiver.ts';

export const WEBHOOK_SECRET = 'a-webhook-secret';

/** An integration in the policy file, without the addresses. */
export type PolicyKeys = Record<string, unknown>;

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read every part of the API's replies
  body: any;
}

export type OrderReply = Reply['body'];

/** An API process. */
export interface Api {
  url: string;
  process: SpawnedProcess;
  /** Sends a request. A reply that doesn't match the OpenAPI document of the API is an error. */
  call: (method: string, path: string, body?: unknown) => Promise<Reply>;
  /** Screens an order. @param decision what the sandbox decides. @param more further fields of the request */
  screen: (orderId: string, decision?: string, more?: object) => Promise<Reply>;
  /** Reads an order. */
  read: (orderId: string, integration?: string) => Promise<OrderReply>;
  /** Screens a new order, which goes into review. @returns its id */
  inReview: (integration?: string) => Promise<string>;
  /** Reads an order until the condition holds. */
  until: (
    orderId: string,
    holds: (order: OrderReply) => boolean,
    integration?: string,
  ) => Promise<OrderReply>;
}

/** The calls are to its first API process. */
export interface Deployment extends Omit<Api, 'url' | 'process'> {
  sandbox: Sandbox;
  apiUrl: string;
  /** Starts another API process, at a port of its own. @param env added to its environment */
  startApi: (env?: NodeJS.ProcessEnv) => Promise<Api>;
  /** Starts API and worker in one process. */
  startServe: () => Promise<Api>;
  /** The settings that its processes share. */
  readonly settings: NodeJS.ProcessEnv;
  /** The metrics of the newest worker. */
  workerMetrics: () => Promise<string>;
  worker: () => SpawnedProcess;
  startWorker: () => Promise<SpawnedProcess>;
  /** Kills the worker. */
  killWorker: () => Promise<void>;
  /** Stops worker and API, and starts them with these variables. */
  restart: (env: Record<string, string>) => Promise<void>;
  /** Everything that the processes wrote. */
  output: () => string;
  /** Events that arrived with a valid signature, in order. */
  events: ReceivedEvent[];
  eventsOf: (orderId: string) => ReceivedEvent[];
  /** Makes the receiver refuse events, refuse them after 11 s, refuse them with a Retry-After of an hour, or accept them. */
  refuseEvents: (refuse: boolean | 'late' | 'for an hour') => void;
  /** The requests of one kind that the sandbox got for an order. */
  requests: (operation: LedgerOperation, invoice: string) => ReturnType<Sandbox['control']['ledger']>;
  stop: () => Promise<void>;
}

interface DeployOptions {
  /** Added to the environment of worker and API; may need the API's address. */
  env?: NodeJS.ProcessEnv | ((apiUrl: string) => NodeJS.ProcessEnv);
  webhooks?: boolean;
  worker?: boolean;
  /** What `call` sends as its bearer key. */
  apiKey?: string;
  /** The API's file of keys. */
  keys?: readonly GivenKey[];
}

/**
 * Starts a deployment.
 * @param integrations the policy file's integrations; each goes to the sandbox with the test key
 */
export async function deploy(
  temporalAddress: string,
  integrations: Record<string, PolicyKeys>,
  { env: given = {}, webhooks = true, worker: withWorker = true, apiKey, keys }: DeployOptions = {},
): Promise<Deployment> {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-e2e-'));
  const apiPort = await freePort();
  const webhookUrl = `http://127.0.0.1:${apiPort}/v1/webhooks/default/${WEBHOOK_SECRET}`;
  const sandbox = await createSandbox({ port: 0, ...(webhooks && { webhookUrl }) });
  const receiver = await startReceiver();
  const policyFile = join(directory, 'policy.json');
  await writeFile(policyFile, JSON.stringify({ integrations: withAddresses(integrations, sandbox) }));
  const keysPath = join(directory, 'keys.json');
  if (keys !== undefined) await writeFile(keysPath, keysFile(...keys));
  let settings: NodeJS.ProcessEnv = {};
  const set = (variables: NodeJS.ProcessEnv) => {
    settings = {
      TEMPORAL_ADDRESS: temporalAddress,
      SCREENING_CONFIG: policyFile,
      SCREENING_API_KEY: 'sandbox-test-key',
      WEBHOOK_SECRETS: WEBHOOK_SECRET,
      EVENTS_URL: receiver.url,
      EVENTS_SECRETS: EVENTS_SECRET,
      API_PORT: String(apiPort),
      ...(keys !== undefined && { API_KEYS_FILE: keysPath }),
      ...variables,
    };
  };
  set(typeof given === 'function' ? given(`http://127.0.0.1:${apiPort}`) : given);
  const spawned: SpawnedProcess[] = [];
  let metricsPort = 0;
  const start = async (script: string, port: number, readyWhen: RegExp, more: NodeJS.ProcessEnv = {}) => {
    const env = { ...settings, METRICS_PORT: String(metricsPort), API_PORT: String(port), ...more };
    const process = await spawnProcess(script, { env, readyWhen });
    spawned.push(process);
    return process;
  };
  const startWorker = async () => {
    metricsPort = await freePort();
    return start('src/worker.ts', apiPort, /worker is ready/);
  };
  const atPort = async (port: number, process: SpawnedProcess): Promise<Api> => {
    const url = `http://127.0.0.1:${port}`;
    return { url, process, ...callsTo(url, await contractOf(url), apiKey) };
  };
  const startApi = async (port: number, more?: NodeJS.ProcessEnv) =>
    atPort(port, await start('src/api.ts', port, /listening/i, more));
  const worker = () => {
    const found = spawned.findLast((one) => one.output().includes('worker is ready'));
    if (found === undefined) throw new Error('no worker was started');
    return found;
  };
  const stop = async () => {
    await Promise.all(spawned.map((one) => one.stop()));
    await sandbox.close();
    await receiver.close();
    await rm(directory, { recursive: true, force: true });
  };
  const starts = [startApi(apiPort), withWorker && startWorker()] as const;
  const [{ url: apiUrl, process: _first, ...calls }] = await Promise.all(starts).catch(
    async (error: unknown) => {
      await Promise.allSettled(starts);
      await stop();
      throw error;
    },
  );
  return {
    ...calls,
    sandbox,
    apiUrl,
    startApi: async (more) => startApi(await freePort(), more),
    startServe: async () => {
      metricsPort = await freePort();
      const port = await freePort();
      return atPort(port, await start('src/serve.ts', port, /API and worker are ready/));
    },
    get settings() {
      return settings;
    },
    workerMetrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    startWorker,
    worker,
    killWorker: async () => {
      worker().kill('SIGKILL');
      await worker().ended;
    },
    restart: async (variables) => {
      set(variables);
      await Promise.all(spawned.map((one) => one.stop()));
      await Promise.all([startWorker(), startApi(apiPort)]);
    },
    output: () => spawned.map((one) => one.output()).join('\n'),
    events: receiver.events,
    eventsOf: (orderId) => receiver.events.filter((event) => event.orderId === orderId),
    refuseEvents: receiver.refuse,
    requests: (operation, invoice) => sandbox.control.ledger({ operation, invoice }),
    stop,
  };
}

/** Deploys before the tests of a file, and stops the deployment after them. Its fields can be read from `beforeAll` on. */
export function withDeployment(
  server: { readonly address: string },
  integrations: Record<string, PolicyKeys>,
  options?: DeployOptions,
): Deployment {
  let deployed: Deployment | undefined;
  beforeAll(async () => {
    deployed = await deploy(server.address, integrations, options);
  });
  afterAll(() => deployed?.stop());
  return new Proxy({} as Deployment, {
    get: (_empty, name) => {
      if (deployed === undefined) throw new Error(`${String(name)} can be read from beforeAll on`);
      return Reflect.get(deployed, name);
    },
  });
}

/** A key that encrypts payloads, and the variable that holds it. */
export function aPayloadKey(id = 'e2e') {
  const payloadKey = { id, key: randomBytes(32) };
  return { payloadKey, env: { PAYLOAD_KEYS: `${id}:${payloadKey.key.toString('base64')}` } };
}

/** A new order id, so that no test meets another's order. */
export function anOrderId(): string {
  return `e2e-${randomUUID().slice(0, 13)}`;
}

/** @returns the check of an API's own OpenAPI document */
export async function contractOf(url: string): Promise<Contract> {
  return createContract((await (await fetch(`${url}/openapi.json`)).json()) as OpenApi);
}

function callsTo(url: string, contract: Contract, apiKey: string | undefined): Omit<Api, 'url' | 'process'> {
  const call: Api['call'] = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers } = response;
    contract.check({ method, url: path, status, headers: Object.fromEntries(headers), body: text });
    return { status, headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const pathOf = (orderId: string) => `/v1/orders/${encodeURIComponent(orderId)}`;
  const get = (orderId: string, integration = 'default') =>
    call('GET', `${pathOf(orderId)}?integration=${integration}`);
  const screen: Api['screen'] = (orderId, decision = 'pass', more = {}) =>
    call('POST', `${pathOf(orderId)}/screening`, {
      transaction: withEmail(`${decision}@example.com`),
      ...more,
    });
  return {
    call,
    screen,
    read: async (...order) => (await get(...order)).body,
    inReview: async (integration = 'default') => {
      const orderId = anOrderId();
      const { status, body } = await screen(orderId, 'review', { integration });
      if (status !== 200 || body.phase !== 'review') throw new Error(`${status} ${JSON.stringify(body)}`);
      return orderId;
    },
    until: (orderId, holds, integration) =>
      eventually(
        async () => {
          const { status, body } = await get(orderId, integration);
          if (status !== 200 || !holds(body)) throw new Error(`not yet: ${status} ${JSON.stringify(body)}`);
          return body;
        },
        { timeoutMs: 20_000 },
      ),
  };
}

function withAddresses(integrations: Record<string, PolicyKeys>, sandbox: Sandbox) {
  const addresses = { baseUrl: sandbox.testBaseUrl, portalBaseUrl: sandbox.portalBaseUrl };
  const entries = Object.entries(integrations).map(([name, keys]) => [name, { ...addresses, ...keys }]);
  return Object.fromEntries(entries);
}
