/** The HTTP API: its hooks, routes and documentation put together, and started as the settings have it. */
import helmet from '@fastify/helmet';
import type { SwaggerTransformObject } from '@fastify/swagger';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { type FastifyInstance, type FastifyRequest, fastify, LogController } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { createPayloadCodec } from '../codec/index.ts';
import { type ApiKeys, type Config, ConfigError, KeysOfFile } from '../config/index.ts';
import { errorCode } from '../config/values.ts';
import type { FindIntegration } from '../contract/policy.ts';
import type { Log } from '../process/log.ts';
import type { OrderScreening } from '../starter.ts';
import {
  admitCallers,
  CONNECTION_TIMES,
  type ConnectionTimes,
  connectionOptions,
  followKeys,
  letConnectionsGo,
  requireKey,
  requireScope,
  slowWrongKeys,
  takeOverNodesAnswers,
  wasCut,
} from './callers.ts';
import { type CodecOptions, codecRoutes } from './codec-routes.ts';
import { acceptJsonOnly, refuseByHead, refuseCards } from './define-route.ts';
import { createAnswerRecord, createHttpMetrics, frameworkLog, type HttpMetrics } from './metrics.ts';
import { orderRoutes } from './order-routes.ts';
import { portalRoutes } from './portal-routes.ts';
import { answerWithProblems, frameworkErrorAnswer } from './problems.ts';
import type { TemporalUi } from './queue/layout.ts';
import { queueRoutes } from './queue/routes.ts';
import { transactionRoutes } from './transaction-routes.ts';
import { webhookRoutes } from './webhook-routes.ts';

export interface ApiOptions {
  orderScreening: OrderScreening;
  /** Bearer keys, all valid; none: everybody may call. */
  apiKeys: ApiKeys;
  /** Requests a second that each key may send; without keys there is no limit. */
  maxRps: number;
  /** By whose policy ids that look like card numbers are taken; absent: none are. */
  findIntegration?: FindIntegration;
  /** Proxies, and networks of them, whose `X-Forwarded-For` is believed; none unless given. */
  trustProxy?: readonly string[];
  /** All valid; none: every webhook is refused. */
  webhookSecrets: readonly string[];
  /** Absent: the API decrypts nothing for Temporal's UI. */
  codec?: Omit<CodecOptions, 'maxRps'>;
  /** What the queue page links to; absent: it doesn't. */
  temporalUi?: TemporalUi;
  /** All integrations that are configured: the queue page looks for an order in each. */
  integrations?: readonly string[];
  /** Of the moments on the queue page; UTC unless given. */
  timeZone?: string;
  log: Log;
  /** How long callers may take, if not as always. */
  times?: Partial<ConnectionTimes>;
}

const BODY_LIMIT = 256 * 1024;
/** An order id has 64 characters at most, each up to 12 when it is encoded. */
const LONGEST_PARAMETER = 1_024;

const NOTHING_IS_LOADED = {
  'default-src': ["'none'"],
  'frame-ancestors': ["'none'"],
  'base-uri': ["'none'"],
};
/** What the pages at /docs load, all from here. */
const OF_THE_DOCS = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
};

/** Colours in which everybody can read the pages at /docs. */
const CONTRAST_OF_THE_DOCS = `
.swagger-ui .opblock .opblock-summary-method { color: #000; text-shadow: none; }
.swagger-ui .info .title small.version-stamp { background-color: #3a5c00; }
.swagger-ui .info .url, .swagger-ui .info a { color: #0a4ea3; }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: #14613c; border-color: #14613c; }
`;

/** Makes the HTTP API; the caller listens. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { orderScreening, log } = options;
  const metrics = createHttpMetrics(options.apiKeys);
  const record = createAnswerRecord(log, metrics);
  const app: FastifyInstance = fastify({
    ...connectionOptions({ ...CONNECTION_TIMES, ...options.times }, record),
    loggerInstance: frameworkLog(log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    trustProxy: options.trustProxy === undefined ? false : [...options.trustProxy],
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    // An address that can't be read reaches no route; Fastify's own answer would repeat it.
    frameworkErrors: frameworkErrorAnswer(record.refused),
  });
  // Requests are checked by `defineRoute`, all parts together; answers are ours, and documented only.
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  acceptJsonOnly(app);
  takeOverNodesAnswers(app);
  letConnectionsGo(app);
  answerWithProblems(app, log);
  await slowWrongKeys(app);
  app.addHook('onResponse', async (request, reply) => {
    if (!wasCut(request.raw.socket)) record.sent(request, reply);
  });
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: NOTHING_IS_LOADED },
    // The proxy that ends TLS knows for which names, and whether for all below them.
    strictTransportSecurity: false,
  });
  refuseByHead(app, options.apiKeys);
  await document(app);
  healthRoutes(app, orderScreening, metrics);
  sendKeptWhenStopping(app, orderScreening, log);
  await app.register(async (scope) => keyedRoutes(scope, options));
  await app.register(queueRoutes, options);
  await app.register(webhookRoutes, { ...options, metrics });
  if (options.codec !== undefined) {
    const requireApiKey = async (request: FastifyRequest) => {
      await requireKey(request, options.apiKeys);
      requireScope(request);
    };
    const { codec, maxRps } = options;
    await app.register(codecRoutes, { prefix: '/codec', requireKey: requireApiKey, maxRps, ...codec });
  }
  return app;
}

/** A stopping process sends the hints that it has answered with 202 and still keeps. */
function sendKeptWhenStopping(app: FastifyInstance, orderScreening: OrderScreening, log: Log): void {
  app.addHook('onClose', async () => {
    const { unsent } = await orderScreening.close();
    if (unsent > 0) log.warn({ unsent }, 'kept hints could not be sent: the next polls read the news');
  });
}

/** What needs a key, counts against its limit, and is nobody else's to keep. */
async function keyedRoutes(
  scope: FastifyInstance,
  { orderScreening, apiKeys, maxRps, findIntegration }: ApiOptions,
): Promise<void> {
  await admitCallers(scope, { apiKeys, maxRps });
  refuseCards(scope, findIntegration);
  orderRoutes(scope, orderScreening);
  portalRoutes(scope, orderScreening);
  transactionRoutes(scope, orderScreening);
}

async function document(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Order screening',
        description:
          'Durable fraud screening of orders. Errors are RFC 9457 problem documents. What is not a request yet is answered 408 (too slow) or 431 (headers too large).',
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
    // Without the bar for other documents, and without links inside of buttons, which screen readers lose.
    uiConfig: { layout: 'BaseLayout', deepLinking: false },
    theme: { css: [{ filename: 'contrast.css', content: CONTRAST_OF_THE_DOCS }] },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

type OpenApi = Extract<Parameters<SwaggerTransformObject>[0], { openapiObject: unknown }>['openapiObject'];

/** What the plugin leaves out: a body that needs none of its fields is optional, and the headers of problems. */
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
const retryAfter = { 'retry-after': header('Seconds to wait before the same request') };
/** Headers that an answer of a status has. */
const HEADERS: Record<string, Record<string, ReturnType<typeof header>>> = {
  401: { 'www-authenticate': header('`Bearer`') },
  429: retryAfter,
  503: retryAfter,
};

function healthRoutes(app: FastifyInstance, orderScreening: OrderScreening, metrics: HttpMetrics): void {
  // Many load balancers and monitors ask by HEAD.
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
  const integrations = new Set(config.integrations.keys());
  const ofFile =
    api.keysFile === undefined ? undefined : new KeysOfFile(api.keysFile, integrations, api.keys);
  const app = await createApi({
    orderScreening,
    apiKeys: ofFile ?? { current: api.keys },
    maxRps: api.maxRps,
    findIntegration: config.findIntegration,
    trustProxy: api.trustProxy,
    webhookSecrets: config.webhookSecrets,
    codec: { codec: createPayloadCodec(config.payloadKeys), ...config.codec },
    integrations: [...integrations],
    timeZone: config.queueTimeZone,
    ...(temporalUiUrl !== undefined && { temporalUi: { url: temporalUiUrl, namespace } }),
    log,
  });
  if (ofFile !== undefined) followKeys(app, ofFile, log);
  for (const name of new Set(api.keys.filter((key) => key.short).map((key) => key.name))) {
    log.warn({ key: name }, 'an API key has fewer than 24 characters: replace it');
  }
  try {
    await app.listen({ host: api.host, port: api.port });
  } catch (error) {
    throw listenError(error, api) ?? error;
  }
  return app;
}

function listenError(error: unknown, { host, port }: Config['api']): ConfigError | undefined {
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
