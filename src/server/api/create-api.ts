/** Creates the HTTP API from hooks, routes and documentation, and starts it with the settings. */
import helmet from '@fastify/helmet';
import type { SwaggerTransformObject } from '@fastify/swagger';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { type FastifyInstance, fastify, LogController } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { createPayloadCodec } from '../../codec/index.ts';
import { type Config, ConfigError, KeysOfFile } from '../../config/index.ts';
import { errorCode } from '../../config/values.ts';
import type { Log } from '../../platform/log.ts';
import type { OrderScreening } from '../../starter.ts';
import { queueRoutes } from '../dashboard/routes.ts';
import type { ApiOptions } from './api-options.ts';
import {
  admitCallers,
  CONNECTION_OPTIONS,
  followKeys,
  letConnectionsGo,
  readForwardedAddresses,
  slowWrongKeys,
} from './callers.ts';
import { codecRoutes } from './codec-routes.ts';
import { acceptJsonOnly, refuseByHead, refuseCards } from './define-route.ts';
import type { HttpMetrics } from './metrics.ts';
import { createAnswerRecord, createHttpMetrics, frameworkLog, noteRepeats } from './metrics.ts';
import { SignIn } from './oidc.ts';
import { orderRoutes } from './order-routes.ts';
import { portalRoutes } from './portal-routes.ts';
import { answerWithProblems, frameworkErrorAnswer } from './problems.ts';
import { createRefusedCheckouts } from './refused-checkouts.ts';
import { webhookRoutes } from './webhook-routes.ts';

const BODY_LIMIT = 256 * 1024;
/** An order id has at most 64 characters, each up to 12 characters long when percent-encoded. */
const LONGEST_PARAMETER = 1_024;

const NOTHING_IS_LOADED = {
  'default-src': ["'none'"],
  'frame-ancestors': ["'none'"],
  'base-uri': ["'none'"],
};
/** The content security policy of the pages at /docs, which load only resources of this server. */
const OF_THE_DOCS = {
  ...NOTHING_IS_LOADED,
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
};

const CONTRAST_OF_THE_DOCS = `
.swagger-ui .opblock .opblock-summary-method { color: #000; text-shadow: none; }
.swagger-ui .info .title small.version-stamp { background-color: #3a5c00; }
.swagger-ui .info .url, .swagger-ui .info a { color: #0a4ea3; }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: #14613c; border-color: #14613c; }
`;

export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { orderScreening, apiKeys, log } = options;
  const metrics = createHttpMetrics(apiKeys);
  const record = createAnswerRecord(log, metrics, options.integrations);
  const app: FastifyInstance = fastify({
    ...CONNECTION_OPTIONS,
    ...options.connection,
    loggerInstance: frameworkLog(log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    trustProxy: options.trustProxy === undefined ? false : [...options.trustProxy],
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    // Answers requests whose path can't be decoded. Fastify's own answer would repeat the path.
    frameworkErrors: frameworkErrorAnswer(record.refused),
  });
  // `defineRoute` validates all parts of a request together. Answers are documented but not validated.
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  acceptJsonOnly(app);
  letConnectionsGo(app);
  answerWithProblems(app, log);
  readForwardedAddresses(app);
  await slowWrongKeys(app);
  // `onResponse` doesn't run if the caller has hung up.
  app.addHook('onSend', async (request, reply) => record.sent(request, reply));
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: NOTHING_IS_LOADED },
    // Left to the proxy that terminates TLS, which knows the host names and whether to include subdomains.
    strictTransportSecurity: false,
  });
  refuseByHead(app, apiKeys);
  await document(app);
  healthRoutes(app, orderScreening, metrics);
  app.addHook('onClose', async () => {
    // Sends the hints that were answered with 202 and not yet sent.
    const { unsent } = await orderScreening.close();
    if (unsent > 0) log.warn({ unsent }, 'kept hints could not be sent: the next polls read the news');
  });
  const refused = createRefusedCheckouts(metrics.noteRefused, options.integrations);
  await app.register(async (scope) => {
    await admitCallers(scope, options);
    refuseCards(scope, options);
    noteRepeats(scope);
    orderRoutes(scope, orderScreening, metrics, refused);
    portalRoutes(scope, orderScreening);
  });
  await app.register(queueRoutes, { ...options, refused });
  await app.register(webhookRoutes, { ...options, metrics });
  if (options.codec) await app.register(codecRoutes, { prefix: '/codec', ...options, ...options.codec });
  return app;
}

async function document(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Order screening',
        description:
          'Durable fraud screening of orders. Errors are RFC 9457 problem documents. Input that is no complete HTTP request gets a plain 400, 408 (too slow) or 431 (headers too large).',
        version: '1',
      },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }, {}],
    },
    transform: jsonSchemaTransform,
    transformObject: (given) => ('openapiObject' in given ? completed(given.openapiObject) : {}),
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: OF_THE_DOCS,
    // No bar for choosing documents, and no links inside buttons, which screen readers ignore.
    uiConfig: { layout: 'BaseLayout', deepLinking: false },
    theme: { css: [{ filename: 'contrast.css', content: CONTRAST_OF_THE_DOCS }] },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

type OpenApi = Extract<Parameters<SwaggerTransformObject>[0], { openapiObject: unknown }>['openapiObject'];

/** Adds what the plugin leaves out: bodies without required fields are optional, and error answers have headers. */
function completed(document: OpenApi): OpenApi {
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of [path?.get, path?.post, path?.delete]) {
      if (operation === undefined) continue;
      const { requestBody, responses = {} } = operation;
      if (requestBody !== undefined && !('$ref' in requestBody)) {
        requestBody.required = 'required' in (requestBody.content['application/json']?.schema ?? {});
      }
      for (const [status, response] of Object.entries(responses)) {
        if (!('$ref' in response) && HEADERS[status] !== undefined) response.headers = HEADERS[status];
      }
    }
  }
  return document;
}

const header = (description: string) => ({
  required: true,
  description,
  schema: { type: 'string' as const },
});
const retryAfter = { 'retry-after': header('Seconds to wait before retrying') };
const HEADERS: Record<string, Record<string, ReturnType<typeof header>>> = {
  401: { 'www-authenticate': header('`Bearer`') },
  429: retryAfter,
  503: retryAfter,
};

function healthRoutes(app: FastifyInstance, orderScreening: OrderScreening, metrics: HttpMetrics): void {
  // Many load balancers and monitors use HEAD.
  const asked = { schema: { hide: true }, exposeHeadRoute: true };
  app.get('/healthz', asked, async () => ({ status: 'ok' }));
  app.get('/readyz', asked, async () => {
    await orderScreening.ping();
    return { status: 'ok' };
  });
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
}

/**
 * Starts the API with the settings.
 * @returns the listening API
 * @throws ConfigError when it can't listen on the configured host and port
 */
export async function startApi(
  config: Config,
  orderScreening: OrderScreening,
  log: Log,
): Promise<FastifyInstance> {
  const { api, integrations, temporalUiUrl: url } = config;
  const { namespace } = config.temporal;
  const ofFile =
    api.keysFile === undefined ? undefined : new KeysOfFile(api.keysFile, integrations, api.keys);
  const app = await createApi({
    orderScreening,
    apiKeys: ofFile ?? { current: api.keys },
    maxRps: api.maxRps,
    trustProxy: api.trustProxy,
    findIntegration: config.findIntegration,
    webhookSecrets: config.webhookSecrets,
    ownWebhookSecrets: config.ownWebhookSecrets,
    codec: { codec: createPayloadCodec(config.payloadKeys), ...config.codec },
    integrations: [...integrations.keys()],
    timeZone: config.queueTimeZone,
    signIn: config.signIn && new SignIn(config.signIn, log),
    temporalUi: url === undefined ? undefined : { url, namespace },
    log,
  });
  if (ofFile !== undefined) followKeys(app, ofFile, log);
  try {
    await app.listen({ host: api.host, port: api.port });
  } catch (error) {
    throw listenError(error, api) ?? error;
  }
  return app;
}

function listenError(error: unknown, { host, port }: Config['api']): ConfigError | undefined {
  const noAddress = ['API_HOST', `${host} is not an address of this machine`] as const;
  const byCode: Record<string, readonly [path: string, message: string]> = {
    EADDRINUSE: ['API_PORT', `port ${port} is taken: free it, or set a different one`],
    EACCES: ['API_PORT', `this user may not listen on port ${port}: set one of 1024 or higher`],
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
  };
  const [path, message] = byCode[String(errorCode(error))] ?? [];
  return path && message ? new ConfigError([{ path, message }]) : undefined;
}
