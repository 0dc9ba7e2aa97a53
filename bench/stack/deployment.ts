/** Order-screening as it is deployed: worker and API processes in their own namespace, and a client library. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { loadClientSettings } from '../../src/config/load-config.ts';
import { freePort } from '../../src/dev/ports.ts';
import { createDataConverter, createOrderScreening, type OrderScreening } from '../../src/starter.ts';
import type { SpawnedProcess } from '../../test/support/processes/spawn-process.ts';
import { SANDBOX_KEY } from '../orders.ts';
import type { Stack } from './stack.ts';

export const WEBHOOK_SECRET = 'a-webhook-secret';

export interface DeploymentOptions {
  namespace: string;
  /** As in the policy file, without the addresses; only `default` by default. */
  integrations?: Record<string, object>;
  /** Encrypts payloads. */
  encrypted?: boolean;
  /** Sends events to the stack's receiver; defaults to true. */
  events?: boolean;
  /** Starts an API process. */
  api?: boolean;
  /** Starts this script, which is the worker and the API in one process, instead of one process each. */
  together?: string;
  /** Options of Node for the worker. */
  nodeArgs?: string[];
}

export interface Deployment {
  client: Client;
  orders: OrderScreening;
  /** Absent if the worker is in the API's process. */
  worker?: SpawnedProcess;
  /** Absent unless requested. */
  api?: { url: string; process: SpawnedProcess };
  /** Of the worker and the API. */
  pids: () => number[];
}

/** Starts a deployment. It is stopped with the stack. */
export async function deploy(stack: Stack, options: DeploymentOptions): Promise<Deployment> {
  const { namespace, together, nodeArgs = [] } = options;
  await stack.makeNamespace(namespace);
  const settings = await settingsOf(stack, options);
  const { findIntegration, payloadKeys } = loadClientSettings(settings);
  const dataConverter = createDataConverter(payloadKeys);
  const client = new Client({ connection: stack.connection, namespace, dataConverter });
  const startWorker = () =>
    stack.startProcess('src/worker.ts', { env: settings, nodeArgs, readyWhen: /worker is ready/ });
  const startApi = async (script: string) => {
    const port = await freePort();
    const env = { ...settings, API_PORT: String(port) };
    const process = await stack.startProcess(script, { env, readyWhen: /listening|are ready/i });
    return { url: `http://127.0.0.1:${port}`, process };
  };
  const worker = together === undefined ? await startWorker() : undefined;
  const script = together ?? (options.api ? 'src/api.ts' : undefined);
  const api = script === undefined ? undefined : await startApi(script);
  const orders = createOrderScreening({ client, findIntegration });
  const pids = () => [worker, api?.process].flatMap((process) => process?.pid ?? []);
  return { client, orders, pids, ...(worker && { worker }), ...(api && { api }) };
}

/** The settings that a deployment's processes and its client library share. */
async function settingsOf(stack: Stack, options: DeploymentOptions): Promise<NodeJS.ProcessEnv> {
  const { namespace, integrations = { default: {} }, encrypted = false, events = true } = options;
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
    METRICS_PORT: '0',
    PAYLOAD_KEYS: encrypted ? `bench:${randomBytes(32).toString('base64')}` : '',
    EVENTS_URL: events ? stack.events.url : '',
    EVENTS_SECRETS: events ? stack.events.secret : '',
  };
}
