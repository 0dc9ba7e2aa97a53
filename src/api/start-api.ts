import type { FastifyInstance } from 'fastify';
import { createPayloadCodec } from '../codec/index.ts';
import { type Config, ConfigError } from '../config.ts';
import { errorCode } from '../error-code.ts';
import type { Log } from '../log.ts';
import type { OrderScreening } from '../starter.ts';
import { createApi } from './create-api.ts';

/**
 * Starts the API as the settings have it.
 * @returns it, listening
 * @throws ConfigError when it can't listen there
 */
export async function startApi(
  config: Config,
  orderScreening: OrderScreening,
  log: Log,
): Promise<FastifyInstance> {
  const { api, temporalUiUrl } = config;
  const { namespace } = config.temporal;
  const app = await createApi({
    orderScreening,
    apiKeys: api.keys,
    maxRps: api.maxRps,
    webhookSecrets: config.webhookSecrets,
    codec: { codec: createPayloadCodec(config.payloadKeys), ...config.codec },
    ...(temporalUiUrl !== undefined && { temporalUi: { url: temporalUiUrl, namespace } }),
    log,
  });
  try {
    await app.listen({ host: api.host, port: api.port });
  } catch (error) {
    throw listenFault(error, api) ?? error;
  }
  return app;
}

function listenFault(error: unknown, { host, port }: Config['api']): ConfigError | undefined {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new ConfigError([
        { path: 'API_PORT', message: `port ${port} is taken: free it, or set another` },
      ]);
    case 'EACCES':
      return new ConfigError([
        { path: 'API_PORT', message: `this user may not listen on port ${port}: set one from 1024 on` },
      ]);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError([{ path: 'API_HOST', message: `${host} is no address of this machine` }]);
    default:
      return undefined;
  }
}
