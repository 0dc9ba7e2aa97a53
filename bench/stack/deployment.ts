/** Our product as it is deployed: worker and API processes on a namespace of their own, and a client library. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { loadClientSettings } from '../../src/config/load-config.ts';
import { freePort } from '../../src/dev/guarded-child.ts';
import { createDataConverter, createOrderScreening, type OrderScreening } from '../../src/starter.ts';
import { type SpawnedProcess, spawnProcess } from '../../test/support/spawn-process.ts';
import { SANDBOX_KEY } from '../service.ts';
import { makeNamespace } from './namespace.ts';
import type { Stack } from './stack.ts';
import { READY_WITHIN_MS, workerProcesses } from './worker-processes.ts';

export const WEBHOOK_SECRET = 'a-webhook-secret';

export interface DeploymentOptions {
  namespace: string;
  /** Of the policy file, without the addresses; `default` alone unless said. */
  integrations?: Record<string, object>;
  /** Payload encryption. */
  encrypted?: boolean;
  /** Whether somebody wants events; true unless said. */
  events?: boolean;
  /** How many worker processes; 1 unless said. */
  workers?: number;
  api?: boolean;
  /** A script that is the worker and the API in one process, in place of one of each. */
  together?: string;
  /** Polls a second. */
  maxRps?: number;
  /** Options of Node for the workers and the API, such as `--cpu-prof`. */
  nodeArgs?: string[];
}

export interface Deployment {
  client: Client;
  orders: OrderScreening;
  workers: SpawnedProcess[];
  startWorker: () => Promise<SpawnedProcess>;
  /** Only where it was asked for. */
  api?: { url: string; process: SpawnedProcess };
  /** Of the workers and the API. */
  pids: () => number[];
  stop: () => Promise<void>;
}

export async function deploy(stack: Stack, options: DeploymentOptions): Promise<Deployment> {
  const { namespace, workers: count = 1, nodeArgs = [] } = options;
  await makeNamespace(stack, namespace);
  const settings = await settingsOf(stack, options);
  const { findIntegration, payloadKeys } = loadClientSettings(settings);
  const dataConverter = createDataConverter(payloadKeys);
  const client = new Client({ connection: stack.connection, namespace, dataConverter });
  const env = async () => ({ ...settings, METRICS_PORT: String(await freePort()) });
  const { workers, startWorker } = workerProcesses('src/worker.ts', nodeArgs, env);
  const together = options.together && (await startApi(options.together, settings, nodeArgs));
  if (together) workers.push(together.process);
  else for (let started = 0; started < count; started += 1) await startWorker();
  const api = together || (options.api === true && (await startApi('src/api.ts', settings, nodeArgs)));
  const all = () => [...new Set([...workers, ...(api ? [api.process] : [])])];
  return {
    client,
    orders: createOrderScreening({ client, findIntegration }),
    workers,
    startWorker,
    ...(api && { api }),
    pids: () => all().map(({ pid }) => pid),
    stop: async () => {
      await Promise.all(all().map((one) => one.stop()));
    },
  };
}

async function startApi(
  script: string,
  settings: NodeJS.ProcessEnv,
  nodeArgs: string[],
): Promise<Required<Deployment>['api']> {
  const port = await freePort();
  const env = { ...settings, API_PORT: String(port), METRICS_PORT: String(await freePort()) };
  const process = await spawnProcess(script, {
    env,
    nodeArgs,
    readyWhen: /listening|are ready/i,
    readyWithinMs: READY_WITHIN_MS,
  });
  return { url: `http://127.0.0.1:${port}`, process };
}

/** What the processes of a deployment and its client library share. */
async function settingsOf(stack: Stack, options: DeploymentOptions): Promise<NodeJS.ProcessEnv> {
  const { namespace, integrations = { default: {} }, encrypted = false, events = true, maxRps } = options;
  const policyFile = join(stack.directory, `${namespace}.json`);
  const addresses = { baseUrl: stack.sandbox.baseUrl, portalBaseUrl: stack.sandbox.portalBaseUrl };
  const complete = Object.entries(integrations).map(([name, keys]) => [name, { ...addresses, ...keys }]);
  await writeFile(policyFile, JSON.stringify({ integrations: Object.fromEntries(complete) }));
  return {
    TEMPORAL_ADDRESS: stack.address,
    TEMPORAL_NAMESPACE: namespace,
    SCREENING_CONFIG: policyFile,
    SCREENING_API_KEY: SANDBOX_KEY,
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
    LOG_LEVEL: 'info',
    API_KEYS: '',
    CARD_STASH_URL: '',
    PAYLOAD_KEYS: encrypted ? `bench:${randomBytes(32).toString('base64')}` : '',
    EVENTS_URL: events ? stack.events.url : '',
    EVENTS_SECRETS: events ? stack.events.secret : '',
    SCREENING_MAX_RPS: String(maxRps ?? 20),
  };
}
