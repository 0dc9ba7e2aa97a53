/** An order service with the client library and the worker in one process, called by plain HTTP. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Client } from '@temporalio/client';
import { z } from 'zod';
import { createDataConverter } from '../../src/codec/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createLog } from '../../src/platform/log.ts';
import { StartedParts } from '../../src/platform/parts.ts';
import { createOrderScreening, EarlyAnswers } from '../../src/starter.ts';
import { startWorkers } from '../../src/worker.ts';

const checkout = z.object({ transaction: z.record(z.string(), z.unknown()) });

const config = loadConfig(process.env);
const { temporal, findIntegration } = config;
const earlyAnswers = new EarlyAnswers();
const log = createLog('order-service', config.logLevel);
const { connection } = await startWorkers(config, log, new StartedParts(), earlyAnswers);
const dataConverter = createDataConverter(config.payloadKeys);
const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
const orders = createOrderScreening({ client, findIntegration, earlyAnswers });

async function screen(url: string, body: unknown): Promise<unknown> {
  const { transaction } = checkout.parse(body);
  const [, orderId = ''] = /^\/v1\/orders\/([^/]+)\/screening$/.exec(url) ?? [];
  return orders.screen({ orderId, transaction });
}

createServer((request, response) => {
  json(request)
    .then((body) => screen(request.url ?? '', body))
    .then(
      (answer) => response.writeHead(200).end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : 'failed'),
    );
}).listen(config.api.port, '127.0.0.1', () => console.log('order service and worker are ready'));
