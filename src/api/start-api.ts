import type { FastifyInstance } from 'fastify';
import { createPayloadCodec } from '../codec/index.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Log } from '../log.ts';
import type { OrderScreening } from '../starter.ts';
import { createApi } from './create-api.ts';

/**
 * Starts the API as the settings have it.
 * @returns it, listening
 * @throws ConfigError when its port is taken
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
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') throw error;
    const message = `port ${api.port} is taken: free it, or set another`;
    throw new ConfigError([{ path: 'API_PORT', message }]);
  }
  return app;
}
