/** A whole deployment for a test file: sandbox, worker process, API process, events receiver, on the shared dev server. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { createSandbox, type Sandbox } from '../../src/sandbox/create-sandbox.ts';
import {
  eventually,
  freePort,
  type GivenKey,
  keysFile,
  type SpawnedProcess,
  spawnProcess,
} from '../support/index.ts';
import { type Contract, createContract, type OpenApi } from '../support/openapi-contract.ts';

export const WEBHOOK_SECRET = 'a-webhook-secret';
const EVENTS_SECRET = `whsec_${Buffer.from('a secret of the events receiver').toString('base64')}`;
const PORTAL_PATH = '/portal/api/v1/transaction-update';

/** An integration in the policy file, without the addresses. */
export type PolicyKeys = Record<string, unknown>;

/** What processes are started of, beside what the deployment gives them. */
export interface Build {
  /** The folder of their code; this one unless given. */
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

export interface ReceivedEvent {
  id: string;
  type: string;
  orderId: string;
  integration: string;
  sequence: number;
  data: { phase: string; decision: string; action: string };
}

/** An API process. */
export interface Api {
  url: string;
  process: SpawnedProcess;
  /** Sends a request to it. An answer that isn't as its OpenAPI document says is an error. */
  call: (method: string, path: string, body?: unknown) => Promise<Reply>;
}

export interface Deployment {
  sandbox: Sandbox;
  apiUrl: string;
  /** Starts another API process, at a port of its own. */
  startApi: () => Promise<Api>;
  /** Starts API and worker in one process. */
  startServe: () => Promise<Api>;
  /** The settings that its processes share. */
  readonly settings: NodeJS.ProcessEnv;
  /** Where the newest worker serves its metrics. */
  workerMetricsUrl: () => string;
  worker: () => SpawnedProcess;
  startWorker: () => Promise<SpawnedProcess>;
  /** Stops worker and API and starts them with these variables beside the others. */
  restart: (env: Record<string, string>) => Promise<void>;
  /** Starts a worker of another build beside the others; after `promoted` stops them all, and starts the API of that build. */
  rollTo: (build: Build, promoted: () => Promise<unknown>) => Promise<void>;
  /** Everything that the processes wrote. */
  output: () => string;
  /** Events that arrived with a valid signature, in order. */
  events: ReceivedEvent[];
  /** Lets the receiver refuse events, answer after 11 s, or take them again. */
  refuseEvents: (refuse: boolean | 'late') => void;
  /** Sends a request to the first API process. */
  call: Api['call'];
  /** Reads an order until the condition holds. */
  until: (
    orderId: string,
    holds: (order: OrderReply) => boolean,
    integration?: string,
  ) => Promise<OrderReply>;
  stop: () => Promise<void>;
}

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is what the tests look into
  body: any;
}

export type OrderReply = Reply['body'];

/**
 * Starts a deployment.
 * @param integrations the policy file's integrations; each goes to the sandbox with the test key
 * @param options.env added to the environment of worker and API; `options.cwd`: where their code is
 * @param options.apiKey what `call` sends as its bearer key; `options.keys`: those of its file of keys
 */
export async function deploy(
  temporalAddress: string,
  integrations: Record<string, PolicyKeys>,
  options: Build & { webhooks?: boolean; worker?: boolean; apiKey?: string; keys?: readonly GivenKey[] } = {},
): Promise<Deployment> {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-e2e-'));
  const apiPort = await freePort();
  const sandbox = await createSandbox({
    port: 0,
    ...(options.webhooks !== false && {
      webhookUrl: `http://127.0.0.1:${apiPort}/v1/webhooks/default/${WEBHOOK_SECRET}`,
    }),
  });
  const receiver = await startReceiver();
  const policyFile = join(directory, 'policy.json');
  await writeFile(policyFile, JSON.stringify({ integrations: withAddresses(integrations, sandbox) }));
  const keys = options.keys && join(directory, 'keys.json');
  if (keys !== undefined) await writeFile(keys, keysFile(...(options.keys ?? [])));
  let { cwd, env: more = {} }: Build = options;
  let metricsPort = 0;
  const settings = () => ({
    TEMPORAL_ADDRESS: temporalAddress,
    SCREENING_CONFIG: policyFile,
    SCREENING_API_KEY: 'sandbox-test-key',
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
    EVENTS_URL: receiver.url,
    EVENTS_SECRETS: EVENTS_SECRET,
    API_PORT: String(apiPort),
    ...(keys !== undefined && { API_KEYS_FILE: keys }),
    ...more,
  });
  const env = (port = apiPort) => ({
    METRICS_PORT: String(metricsPort),
    ...settings(),
    API_PORT: String(port),
  });
  const spawned: SpawnedProcess[] = [];
  const start = async (script: string, port: number, readyWhen: RegExp) => {
    const process = await spawnProcess(script, {
      ...(cwd !== undefined && { cwd }),
      env: env(port),
      readyWhen,
    });
    spawned.push(process);
    return process;
  };
  const startWorker = async () => {
    metricsPort = await freePort();
    return start('src/worker.ts', apiPort, /worker is ready/);
  };
  const startApi = async (port: number, script = 'src/api.ts'): Promise<Api> => {
    const ready = script === 'src/serve.ts' ? /API and worker are ready/ : /listening/i;
    const process = await start(script, port, ready);
    const url = `http://127.0.0.1:${port}`;
    return { url, process, call: callsTo(url, await contractOf(url), options.apiKey) };
  };
  let [api] = await Promise.all([startApi(apiPort), options.worker !== false && startWorker()]);
  const call: Api['call'] = (...request) => api.call(...request);
  return {
    sandbox,
    apiUrl: api.url,
    startApi: async () => startApi(await freePort()),
    startServe: async () => {
      metricsPort = await freePort();
      return startApi(await freePort(), 'src/serve.ts');
    },
    get settings() {
      return settings();
    },
    workerMetricsUrl: () => `http://127.0.0.1:${metricsPort}/metrics`,
    startWorker,
    restart: async (env) => {
      more = env;
      await Promise.all(spawned.map((one) => one.stop()));
      await Promise.all([startWorker(), startApi(apiPort)]);
    },
    rollTo: async (build, promoted) => {
      const before = [...spawned];
      ({ cwd, env: more = {} } = build);
      await startWorker();
      await promoted();
      await Promise.all(before.map((one) => one.stop()));
      api = await startApi(apiPort);
    },
    worker: () => {
      const worker = spawned.findLast((one) => one.output().includes('worker is ready'));
      if (worker === undefined) throw new Error('no worker was started');
      return worker;
    },
    output: () => spawned.map((one) => one.output()).join('\n'),
    events: receiver.events,
    refuseEvents: receiver.refuse,
    call,
    until: (orderId, holds, integration = 'default') =>
      eventually(
        async () => {
          const { status, body } = await call('GET', `/v1/orders/${orderId}?integration=${integration}`);
          if (status !== 200 || !holds(body)) throw new Error(`not yet: ${status} ${JSON.stringify(body)}`);
          return body;
        },
        { timeoutMs: 20_000 },
      ),
    stop: async () => {
      await Promise.all(spawned.map((one) => one.stop()));
      await sandbox.close();
      await receiver.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A new order id, so that no test meets another's order. */
export function anOrderId(): string {
  return `e2e-${randomUUID().slice(0, 13)}`;
}

/** @returns the check of an API's own OpenAPI document */
export async function contractOf(url: string): Promise<Contract> {
  return createContract((await (await fetch(`${url}/openapi.json`)).json()) as OpenApi);
}

function callsTo(url: string, contract: Contract, apiKey: string | undefined): Api['call'] {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status } = response;
    const headers = Object.fromEntries(response.headers);
    contract.check({ method, url: path, status, headers, body: text });
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
}

function withAddresses(
  integrations: Record<string, PolicyKeys>,
  sandbox: Sandbox,
): Record<string, PolicyKeys> {
  const addresses = { baseUrl: sandbox.testBaseUrl, portalBaseUrl: `${sandbox.url}${PORTAL_PATH}` };
  return Object.fromEntries(
    Object.entries(integrations).map(([name, keys]) => [name, { ...addresses, ...keys }]),
  );
}

/** Starts a receiver of events that knows one secret. */
export async function startReceiver(secret = EVENTS_SECRET): Promise<{
  url: string;
  events: ReceivedEvent[];
  refuse: (refuse: boolean | 'late') => void;
  close: () => Promise<void>;
}> {
  const events: ReceivedEvent[] = [];
  let refusing: boolean | 'late' = false;
  const webhook = new Webhook(secret);
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (refusing) {
        setTimeout(() => response.writeHead(503).end(), refusing === 'late' ? 11_000 : 0);
        return;
      }
      const headers = {
        'webhook-id': String(request.headers['webhook-id']),
        'webhook-timestamp': String(request.headers['webhook-timestamp']),
        'webhook-signature': String(request.headers['webhook-signature']),
      };
      const payload = webhook.verify(Buffer.concat(chunks).toString(), headers) as Omit<ReceivedEvent, 'id'>;
      events.push({ id: headers['webhook-id'], ...payload });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}/events`,
    events,
    refuse: (refuse) => {
      refusing = refuse;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
