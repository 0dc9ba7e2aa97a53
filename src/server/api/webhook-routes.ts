/** The receiver of the screening service's webhooks. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readWebhook } from '../../screening-service/index.ts';
import type { ApiOptions } from './api-options.ts';
import { isOneOf } from './callers.ts';
import type { HttpMetrics } from './metrics.ts';
import { HttpError } from './problems.ts';

const BODY_LIMIT = 64 * 1024;

type Params = { integration: string; secret?: string };

/**
 * Receives the screening service's webhooks with any method and content type, since merchants configure them. A webhook is only
 * a hint to read the status: its content isn't trusted, and its URLs aren't fetched.
 */
export async function webhookRoutes(
  app: FastifyInstance,
  { orderScreening, webhookSecrets, ownWebhookSecrets, log, metrics }: ApiOptions & { metrics: HttpMetrics },
): Promise<void> {
  const isSecretOf = (integration: string, secret: string | undefined): boolean =>
    isOneOf(ownWebhookSecrets?.get(integration) ?? webhookSecrets, secret);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) => {
    done(null, body);
  });
  app.addHook('onRequest', async (request) => {
    const { integration } = request.params as Params;
    if (!isSecretOf(integration, secretOf(request))) {
      await app.wrongKey(request);
      throw new HttpError('bad-webhook-secret');
    }
    // Merchants' templates send invalid content types, so the body is read whatever its type.
    request.headers['content-type'] = 'application/octet-stream';
  });
  for (const url of ['/v1/webhooks/:integration', '/v1/webhooks/:integration/:secret']) {
    app.route<{ Params: Params; Body: Buffer | undefined }>({
      method: ['GET', 'POST', 'PUT', 'PATCH'],
      url,
      bodyLimit: BODY_LIMIT,
      schema: { hide: true },
      config: { fromOutside: true },
      handler: async (request, reply) => {
        const { body, headers, url: address } = request;
        const { integration } = request.params;
        const query = /\?(.*)/.exec(address)?.[1];
        const found = readWebhook({ contentEncoding: headers['content-encoding'], query, body });
        if (found === undefined) throw new HttpError('unsupported-media-type');
        const { outcome } = await orderScreening.hint({
          integration,
          source: 'webhook',
          transactionId: found.transactionIds,
          orderId: found.invoiceNumbers,
          // Integrations may share an account of the screening service, which sends all webhooks to one of them.
          reaches: (other: string) => isSecretOf(other, secretOf(request)),
        });
        metrics.noteHint(integration, outcome);
        if (outcome === 'unknown') log.warn({ integration }, 'webhook for no known order');
        return reply.code(202).send({ status: outcome });
      },
    });
  }
}

function secretOf({ headers, params }: FastifyRequest): string | undefined {
  const header = headers['x-webhook-secret'];
  return typeof header === 'string' ? header : (params as Params).secret;
}
