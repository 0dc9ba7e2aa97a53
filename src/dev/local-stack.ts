import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { localApiAddress } from '../api-address.ts';
import { type Config, hashedKey, loadConfig } from '../config.ts';
import type { Log } from '../log.ts';
import { installRuntime } from '../runtime.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { startService } from '../serve.ts';
import { StartedParts } from '../started-parts.ts';
import { embeddedOptions } from './embedded-options.ts';
import { type EmbeddedTemporal, startEmbeddedTemporal } from './embedded-temporal.ts';
import { codecEndpoint, webhookUrl } from './local-addresses.ts';
import { localEnvironment } from './local-environment.ts';
import { type LocalSecrets, localSecrets } from './local-secrets.ts';
import { assertPortFree } from './ports.ts';
import type { Progress } from './progress.ts';

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
  progress: Progress,
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
      progress.say('Starting Temporal …');
      const started = await startEmbeddedTemporal({
        ...embeddedOptions(config),
        codecEndpoint: codecEndpoint(config),
        progress,
      });
      server = started;
      parts.add(() => started.stop());
    }
    let sandbox: Sandbox | undefined;
    if (ownSandbox) {
      progress.say('Starting the sandbox …');
      const started = await createSandbox({
        port: local.sandboxPort,
        dataFile: join(local.dataDir, 'sandbox.json'),
        webhookUrl: local.sandboxWebhookUrl ?? webhookUrl(config),
      });
      sandbox = started;
      parts.add(() => started.close());
    }

    progress.say('Starting the worker and the API …');
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
