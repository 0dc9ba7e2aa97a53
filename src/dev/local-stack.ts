/** Everything on one machine: Temporal, the sandbox, worker and API in one process. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Config, hashedKey, loadConfig } from '../config/index.ts';
import { localApiAddress } from '../config/load-config.ts';
import { type LocalSecrets, localEnvironment, localSecrets } from '../process/local.ts';
import type { Log } from '../process/log.ts';
import { StartedParts } from '../process/parts.ts';
import { createSandbox, type Sandbox } from '../sandbox/create-sandbox.ts';
import { startService } from '../serve.ts';
import { installRuntime } from '../temporal/runtime.ts';
import {
  type EmbeddedTemporal,
  type EmbeddedTemporalOptions,
  startEmbeddedTemporal,
} from './embedded-temporal.ts';
import { assertPortFree } from './guarded-child.ts';

/** Everything on one machine, running. */
export interface LocalStack {
  apiUrl: string;
  /** Of this process only, for the sample orders; absent when the API asks for none. */
  apiKey?: string;
  temporalAddress: string;
  /** Absent when somebody else's Temporal is used. */
  temporalUiUrl?: string;
  /** Absent when somebody else's screening service is used. */
  sandboxUrl?: string;
  /** Rejects when a part breaks down by itself. */
  broken: Promise<never>;
  /** Lets what runs finish, then stops all parts. */
  stop(): Promise<void>;
}

/**
 * Starts Temporal, the sandbox, the worker and the API in this process, each only where no other is configured.
 *
 * @throws ConfigError for settings, Error naming the port and its variable when a port is taken
 */
export async function startLocalStack(
  processEnv: NodeJS.ProcessEnv,
  makeLog: (config: Config) => Log,
): Promise<LocalStack> {
  const { env, sandbox: ownSandbox } = localEnvironment(processEnv);
  const configured = loadConfig(env);
  const { api, temporal, local } = configured;
  await checkPorts(configured, ownSandbox);
  const config = temporal.embedded ? withSecrets(configured, await localSecrets(local.dataDir)) : configured;
  const log = makeLog(config);
  installRuntime(config, log);

  // The configured keys are kept as hashes: the sample orders are sent with one of this process's own.
  const ownKey = randomBytes(18).toString('base64url');
  const parts = new StartedParts();
  try {
    let server: EmbeddedTemporal | undefined;
    if (temporal.embedded) {
      console.error('Starting Temporal …');
      const started = await startEmbeddedTemporal({
        ...embeddedOptions(config),
        codecEndpoint: codecEndpoint(config),
      });
      server = started;
      parts.add(() => started.stop());
    }
    let sandbox: Sandbox | undefined;
    if (ownSandbox) {
      console.error('Starting the sandbox …');
      const started = await createSandbox({
        port: local.sandboxPort,
        dataFile: join(local.dataDir, 'sandbox.json'),
        webhookUrl: local.sandboxWebhookUrl ?? webhookUrl(config),
      });
      sandbox = started;
      parts.add(() => started.close());
    }

    console.error('Starting the worker and the API …');
    const keys = api.keys.length === 0 ? [] : [...api.keys, hashedKey('npm-start', ownKey)];
    const service = await startService({ ...config, api: { ...api, keys } }, log);
    parts.add(() => service.stop());

    const ends = [service.stopped.then(() => 'The worker stopped by itself.')];
    if (server !== undefined) ends.push(server.ended.then((how) => `The Temporal server ended: ${how}.`));
    const broken = Promise.race(ends).then((words) => {
      throw new Error(words);
    });
    broken.catch(() => undefined);
    return {
      apiUrl: localApiAddress(api),
      temporalAddress: temporal.connection.address,
      broken,
      stop: parts.stop,
      ...(api.keys.length > 0 && { apiKey: ownKey }),
      ...(server?.uiUrl !== undefined && { temporalUiUrl: server.uiUrl }),
      ...(sandbox !== undefined && { sandboxUrl: sandbox.url }),
    };
  } catch (error) {
    await parts.giveUp();
    throw error;
  }
}

/** Looks at all ports first, so that nothing is half started when one is taken. */
async function checkPorts(config: Config, ownSandbox: boolean): Promise<void> {
  const { temporal, local, api, metrics } = config;
  if (temporal.embedded) {
    await assertPortFree(local.temporalPort, 'TEMPORAL_PORT');
    await assertPortFree(local.temporalUiPort, 'TEMPORAL_UI_PORT');
  }
  if (ownSandbox) await assertPortFree(local.sandboxPort, 'SANDBOX_PORT');
  await assertPortFree(api.port, 'API_PORT');
  await assertPortFree(metrics.port, 'METRICS_PORT');
}

/** Completes the settings for the embedded server: its data is encrypted, also when nobody has set a key. */
function withSecrets(config: Config, { payloadKeys, codecToken }: LocalSecrets): Config {
  return {
    ...config,
    payloadKeys: config.payloadKeys.length > 0 ? config.payloadKeys : payloadKeys,
    codec: { token: codecToken, ...config.codec },
  };
}

/** Where the embedded UI, in a browser of this machine, has payloads decrypted. */
export function codecEndpoint({ api, codec }: Pick<Config, 'api' | 'codec'>): string {
  return `${localApiAddress(api)}/codec/${codec.token ?? ''}`;
}

/** Where the sandbox tells the API about reviews: its known default template has no headers, so the secret is in the path. */
export function webhookUrl({ api, webhookSecrets }: Pick<Config, 'api' | 'webhookSecrets'>): string {
  return `${localApiAddress(api)}/v1/webhooks/default/${encodeURIComponent(webhookSecrets[0] ?? '')}`;
}

/** @returns what the embedded server is to be: where the settings look for it, with the namespace that they name */
export function embeddedOptions({
  local,
  temporal,
}: Pick<Config, 'local' | 'temporal'>): EmbeddedTemporalOptions {
  return {
    port: local.temporalPort,
    uiPort: local.temporalUiPort,
    dataDir: local.dataDir,
    namespace: temporal.namespace,
  };
}
