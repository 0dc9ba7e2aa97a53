import swagger, { type SwaggerTransformObject } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { orderIdSchema } from '../client/read-requests.ts';
import type { Log } from '../log.ts';
import type { OrderScreening } from '../starter.ts';
import { type CodecOptions, codecRoutes } from './codec-routes.ts';
import { addMetrics } from './metrics.ts';
import { orderRoutes } from './order-routes.ts';
import { portalRoutes } from './portal-routes.ts';
import { answerFrameworkError, answerWithProblems, HttpError } from './problems.ts';
import { isOneOf } from './secrets.ts';
import { webhookRoutes } from './webhook-routes.ts';

export interface ApiOptions {
  orderScreening: OrderScreening;
  /** Bearer keys, all valid; none: everybody may call. */
  apiKeys: readonly string[];
  /** All valid; none: every webhook is refused. */
  webhookSecrets: readonly string[];
  /** Absent: the API decrypts nothing for Temporal's UI. */
  codec?: CodecOptions;
  log: Log;
}

const BODY_LIMIT = 1024 * 1024;
/** An order id has 64 characters at most, each up to 12 when it is encoded. */
const LONGEST_PARAMETER = 1_024;

/** Makes the HTTP API; the caller listens. Design section 5. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { orderScreening, apiKeys, log } = options;
  const loggerInstance: FastifyBaseLogger = log;
  const app: FastifyInstance = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    // An address that can't be read reaches no route; Fastify's own answer would repeat it.
    frameworkErrors: answerFrameworkError,
  });
  // Requests are checked by `defineRoute`, all parts together; answers are ours, and documented only.
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  acceptJsonOnly(app);
  answerWithProblems(app);
  logAnswers(app);
  addMetrics(app);
  await document(app);
  healthRoutes(app, orderScreening);
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (request) => requireKey(request, apiKeys));
    orderRoutes(scope, orderScreening);
    portalRoutes(scope, orderScreening);
  });
  await app.register(webhookRoutes, options);
  if (options.codec !== undefined) {
    const requireApiKey = (request: FastifyRequest) => requireKey(request, apiKeys);
    await app.register(codecRoutes, { prefix: '/codec', requireKey: requireApiKey, ...options.codec });
  }
  return app;
}

/** Many clients announce JSON and send nothing, for actions that need no body. */
function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else {
      void parseJson(request, String(body), (error, value) => {
        // `null` would be taken for no body.
        if (error === null && value === null) done(new HttpError('not-json'));
        else done(error, value);
      });
    }
  });
}

function logAnswers(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const orderId = orderIdSchema.safeParse((request.params as { orderId?: unknown } | null)?.orderId).data;
    const { method, routeOptions } = request;
    request.log.info(
      {
        method,
        route: routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime),
        ...(orderId !== undefined && { orderId }),
        ...(reply.problemCode !== undefined && { code: reply.problemCode }),
      },
      'answered',
    );
  });
}

async function document(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Order screening',
        description: 'Durable fraud screening of orders. Errors are RFC 9457 problem documents.',
        version: '1',
      },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }, {}],
    },
    transform: jsonSchemaTransform,
    transformObject: (given) => ('openapiObject' in given ? withOptionalBodies(given.openapiObject) : {}),
  });
  await app.register(swaggerUi, { routePrefix: '/docs' });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

type OpenApi = Extract<Parameters<SwaggerTransformObject>[0], { openapiObject: unknown }>['openapiObject'];

/** The plugin calls every body required; one that needs none of its fields may be left out. */
function withOptionalBodies(document: OpenApi): OpenApi {
  for (const path of Object.values(document.paths ?? {})) {
    const post = path?.post;
    if (post?.requestBody === undefined || '$ref' in post.requestBody) continue;
    const schema = post.requestBody.content['application/json']?.schema ?? {};
    post.requestBody.required = 'required' in schema;
  }
  return document;
}

function healthRoutes(app: FastifyInstance, orderScreening: OrderScreening): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async () => {
    await orderScreening.ping();
    return { status: 'ok' };
  });
}

function requireKey(request: FastifyRequest, apiKeys: readonly string[]): void {
  if (apiKeys.length === 0) return;
  const key = /^Bearer ([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (!isOneOf(apiKeys, key)) throw new HttpError('unauthorized');
}
