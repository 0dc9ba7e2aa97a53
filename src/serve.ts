/**
 * `npm run serve`: worker and API in one process. It answers a checkout as soon as the screening service has answered: Temporal
 * returns the order's first task with the start, and the worker passes the answer to the API before the order's record is
 * written.
 */
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import closeWithGrace from 'close-with-grace';
import { type Config, loadConfig } from './config/index.ts';
import { createLog, type Log } from './platform/log.ts';
import { endOnSignalOrError, errorText, StartedParts } from './platform/parts.ts';
import { installRuntime } from './platform/runtime.ts';
import { startApi } from './server/api/create-api.ts';
import { createDataConverter, createOrderScreening, EarlyAnswers } from './starter.ts';
import { connectWorker, startWorkers, workerSettings, worldOf } from './worker.ts';

/** Longer than the API's pending requests and then the worker's calls, of 30 s at most, take together. */
const STOP_WITHIN_MS = 45_000;

export interface Service {
  /** Resolves when the worker has stopped; rejects when it fails. */
  readonly stopped: Promise<void>;
  /** Answers pending requests, lets the worker finish, then stops. */
  stop(): Promise<void>;
}

/**
 * Starts worker and API on one connection, since Temporal returns first tasks on the connection that started the order.
 *
 * @throws ConfigError when Temporal doesn't answer, lacks what orders need, or the API's port is taken
 */
export async function startService(config: Config, log: Log): Promise<Service> {
  const { temporal, findIntegration } = config;
  const parts = new StartedParts();
  try {
    const connection = await connectWorker(temporal);
    parts.add(() => connection.close());
    const settings = workerSettings(config, connection, log);
    const earlyAnswers = new EarlyAnswers();
    const world = { ...worldOf(config), beforeRecord: earlyAnswers };
    const { cards } = world;
    parts.add(() => cards.close());
    const workers = await startWorkers(settings, world);
    parts.add(() => workers.stop().catch(() => undefined));
    // It may fail before the API listens, when nothing awaits it yet.
    workers.stopped.catch(() => undefined);
    const dataConverter = createDataConverter(config.payloadKeys, { required: config.payloadsRequired });
    const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
    const app = await startApi(
      config,
      createOrderScreening({ client, findIntegration, cards, earlyAnswers }),
      log,
    );
    parts.add(() => app.close());
    return { stopped: workers.stopped, stop: parts.stop };
  } catch (error) {
    await parts.giveUp();
    throw error;
  }
}

async function main(): Promise<void> {
  const started = endOnSignalOrError();
  const config = loadConfig(process.env, 'serve');
  const log = createLog('serve', config.logLevel);
  installRuntime(config, log);
  const service = await startService(config, log);
  const { connection, namespace } = config.temporal;
  log.info({ address: connection.address, namespace, ...config.workerVersion }, 'API and worker are ready');
  // With a file of keys, SIGHUP makes the API read it again.
  const skip: 'SIGHUP'[] = config.api.keysFile === undefined ? [] : ['SIGHUP'];
  started();
  closeWithGrace({ delay: STOP_WITHIN_MS, logger: false, skip }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error');
    else log.info('stopping: waiting for running tasks');
    await service.stop();
  });
  try {
    await service.stopped;
  } catch (error) {
    await service.stop().catch(() => undefined);
    throw error;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error: unknown) => {
    process.stderr.write(`order-screening cannot run: ${errorText(error)}\n`);
    // The SDK's threads would keep the process alive.
    process.exit(1);
  });
}
