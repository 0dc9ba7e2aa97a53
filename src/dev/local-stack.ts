/** Everything on one machine: Temporal, the sandbox, worker and API in one process. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Config, hashedKey, loadConfig } from '../config/index.ts';
import { localApiAddress } from '../config/load-config.ts';
import { localEnvironment, localSecrets } from '../platform/local.ts';
import { createLog } from '../platform/log.ts';
import { startParts } from '../platform/parts.ts';
import { createSandbox } from '../sandbox/create-sandbox.ts';
import { startService } from '../serve.ts';
import { startEmbeddedTemporal } from './embedded-temporal.ts';
import { assertPortFree, freePort } from './ports.ts';

export type LocalStack = Awaited<ReturnType<typeof startLocalStack>>;

/**
 * Starts the worker and the API, and also Temporal and the sandbox unless the settings name others.
 *
 * @throws ConfigError for invalid settings; Error with the port and its variable if a port is in use
 */
export async function startLocalStack(processEnv: NodeJS.ProcessEnv) {
  const { env, sandbox: ownSandbox } = localEnvironment(await withChosenPorts(processEnv));
  let config = loadConfig(env, 'start');
  const { api, temporal, local, metrics } = config;
  // Before any part starts. Temporal's ports are checked by its start, which is the first.
  if (ownSandbox) await assertPortFree(local.sandboxPort, 'SANDBOX_PORT');
  await assertPortFree(api.port, 'API_PORT');
  await assertPortFree(metrics.port, 'METRICS_PORT');
  if (temporal.embedded) {
    const { payloadKeys, codecToken } = await localSecrets(local.dataDir);
    if (config.payloadKeys.length === 0) config = { ...config, payloadKeys };
    config = { ...config, codec: { token: codecToken, ...config.codec } };
  }
  // The terminal is for people: it shows requests only when LOG_LEVEL is set.
  const log = createLog('order-screening', env.LOG_LEVEL ? config.logLevel : 'warn');

  return startParts(async (parts) => {
    const ends: Promise<string>[] = [];
    let temporalUiUrl: string | undefined;
    if (temporal.embedded) {
      console.error('Starting Temporal …');
      const options = { ...embeddedOptions(config), codecEndpoint: codecEndpoint(config) };
      const { uiUrl, ended, stop } = await startEmbeddedTemporal(options);
      parts.add(stop);
      ends.push(ended.then((how) => `The Temporal server ended: ${how}.`));
      temporalUiUrl = uiUrl;
    }
    let sandboxUrl: string | undefined;
    if (ownSandbox) {
      console.error('Starting the sandbox …');
      const sandbox = await createSandbox({
        port: local.sandboxPort,
        dataFile: join(local.dataDir, 'sandbox.json'),
        webhookUrl: local.sandboxWebhookUrl ?? webhookUrl(config),
      });
      parts.add(() => sandbox.close());
      sandboxUrl = sandbox.url;
    }

    console.error('Starting the worker and the API …');
    // The settings have only hashes of the configured keys.
    const apiKey = api.keys.length === 0 ? undefined : randomBytes(18).toString('base64url');
    const keys = apiKey === undefined ? [] : [...api.keys, hashedKey('npm-start', apiKey)];
    const service = await startService({ ...config, api: { ...api, keys } }, log);
    parts.add(() => service.stop());
    ends.push(service.stopped.then(() => 'The worker stopped unexpectedly.'));

    const broken = Promise.race(ends).then((message) => {
      throw new Error(message);
    });
    broken.catch(() => undefined);
    return {
      apiUrl: localApiAddress(api),
      /** A temporary API key for the sample orders. Undefined if the API requires none. */
      apiKey,
      temporalAddress: temporal.connection.address,
      /** Undefined if a Temporal server is configured. */
      temporalUiUrl,
      /** Undefined if a screening service is configured. */
      sandboxUrl,
      broken,
    };
  });
}

const PORTS = ['TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'SANDBOX_PORT', 'API_PORT'];

/** Replaces each port 0 with a free port, since the parts need each other's ports before they listen. */
export async function withChosenPorts(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const chosen = { ...env };
  for (const name of PORTS) if (env[name] === '0') chosen[name] = String(await freePort());
  return chosen;
}

/** Returns the address of the codec endpoint, with which the Temporal UI in a browser on this machine decrypts payloads. */
export function codecEndpoint({ api, codec }: Pick<Config, 'api' | 'codec'>): string {
  return `${localApiAddress(api)}/codec/${codec.token ?? ''}`;
}

/** Returns the address for the sandbox's webhooks. The secret is in the path, since webhooks of the default template have no headers. */
export function webhookUrl({ api, webhookSecrets }: Pick<Config, 'api' | 'webhookSecrets'>): string {
  return `${localApiAddress(api)}/v1/webhooks/default/${encodeURIComponent(webhookSecrets[0] ?? '')}`;
}

/** The embedded server's options, with the addresses and the namespace that all processes use. */
export function embeddedOptions({ local, temporal }: Pick<Config, 'local' | 'temporal'>) {
  return {
    port: local.temporalPort,
    uiPort: local.temporalUiPort,
    dataDir: local.dataDir,
    namespace: temporal.namespace,
  };
}
