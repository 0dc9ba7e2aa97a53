/** `npm run api`: the HTTP API as a separate process. */
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { createCardStash } from './card-stash/index.ts';
import { createDataConverter } from './codec/index.ts';
import { logUnreachable } from './platform/log.ts';
import { startParts } from './platform/parts.ts';
import { runProcess } from './platform/process.ts';
import { startApi } from './server/api/create-api.ts';
import { createOrderScreening } from './starter.ts';

runProcess('api', { stopWithinMs: 15_000 }, (config, log) =>
  startParts(async (parts) => {
    const { temporal, findIntegration } = config;
    // Connects at the first call: without Temporal, the API runs and answers 503.
    const connection = Connection.lazy({
      ...temporal.connection,
      interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), logUnreachable(log)],
    });
    parts.add(() => connection.close());
    const cards = createCardStash(config.cardStash.url, config.cardStash.keys);
    parts.add(() => cards.close());
    const dataConverter = createDataConverter(config.payloadKeys, { required: config.payloadsRequired });
    const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
    const app = await startApi(config, createOrderScreening({ client, findIntegration, cards }), log);
    parts.add(() => app.close());
    if (config.cardStash.url === 'memory:') {
      log.warn('card stash in this process only: full card data reaches no worker of another process');
    }
    return {};
  }),
);
