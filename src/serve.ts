/**
 * `npm run serve`: worker and API in one process. It answers a checkout as soon as the screening service has answered: Temporal
 * returns the order's first task with the start, and the worker passes the answer to the API before the order's record is
 * written.
 */
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import type { Config } from './config/index.ts';
import type { Log } from './platform/log.ts';
import { startParts } from './platform/parts.ts';
import { type Running, runProcess } from './platform/process.ts';
import { startApi } from './server/api/create-api.ts';
import { createDataConverter, createOrderScreening, EarlyAnswers } from './starter.ts';
import { startWorkers } from './worker.ts';

/** Longer than the API's pending requests and then the worker's calls, of 30 s at most, take together. */
const STOP_WITHIN_MS = 45_000;

/**
 * Starts worker and API on one connection, since Temporal returns first tasks on the connection that started the order.
 *
 * @throws ConfigError when Temporal doesn't answer, lacks what orders need, or the API's port is taken
 */
export function startService(config: Config, log: Log): Promise<Required<Running>> {
  return startParts(async (parts) => {
    const { temporal, findIntegration } = config;
    const earlyAnswers = new EarlyAnswers();
    const { connection, cards, stopped } = await startWorkers(config, log, parts, earlyAnswers);
    const dataConverter = createDataConverter(config.payloadKeys, { required: config.payloadsRequired });
    const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
    const orderScreening = createOrderScreening({ client, findIntegration, cards, earlyAnswers });
    const app = await startApi(config, orderScreening, log);
    parts.add(() => app.close());
    return { stopped };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stopping = 'stopping: waiting for running tasks';
  const cannotRun = 'order-screening cannot run: ';
  runProcess('serve', { stopWithinMs: STOP_WITHIN_MS, stopping, cannotRun }, async (config, log) => {
    const service = await startService(config, log);
    const { connection, namespace } = config.temporal;
    log.info({ address: connection.address, namespace, ...config.workerVersion }, 'API and worker are ready');
    return service;
  });
}
