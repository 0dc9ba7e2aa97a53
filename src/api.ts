/** `npm run api`: the HTTP API as a separate process. */
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import closeWithGrace from 'close-with-grace';
import { createCardStash } from './card-stash/index.ts';
import { createDataConverter } from './codec/index.ts';
import { loadConfig } from './config/index.ts';
import { createLog, logUnreachable } from './platform/log.ts';
import { endOnSignalOrError, errorText } from './platform/parts.ts';
import { startApi } from './server/api/create-api.ts';
import { createOrderScreening } from './starter.ts';

const CLOSE_WITHIN_MS = 15_000;

async function main(): Promise<void> {
  const started = endOnSignalOrError();
  const config = loadConfig(process.env, 'api');
  const log = createLog('api', config.logLevel);
  // Connects at the first call: without Temporal, the API runs and answers 503.
  const connection = Connection.lazy({
    ...config.temporal.connection,
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), logUnreachable(log)],
  });
  const dataConverter = createDataConverter(config.payloadKeys, { required: config.payloadsRequired });
  const client = new Client({ connection, namespace: config.temporal.namespace, dataConverter });
  const cards = createCardStash(config.cardStash.url, config.cardStash.keys);
  const orderScreening = createOrderScreening({ client, findIntegration: config.findIntegration, cards });
  const app = await startApi(config, orderScreening, log);
  // With a file of keys, SIGHUP makes the API read it again.
  const skip: 'SIGHUP'[] = config.api.keysFile === undefined ? [] : ['SIGHUP'];
  started();
  closeWithGrace({ delay: CLOSE_WITHIN_MS, logger: false, skip }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error');
    await app.close();
    await cards.close();
    await connection.close();
  });
  if (config.cardStash.url === 'memory:') {
    log.warn('card stash in this process only: full card data reaches no worker of another process');
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorText(error)}\n`);
  process.exit(1);
});
