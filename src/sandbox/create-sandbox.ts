/** Starts the sandbox with its HTTP control plane. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import Fastify from 'fastify';
import { z } from 'zod';
import { createControl } from './control.ts';
import { controlRoutes } from './control-routes.ts';
import { FaultPlan } from './fault-plan.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createGate, type Keys } from './service/gate.ts';
import { portalRoutes, screeningRoutes } from './service/routes.ts';
import { refuse } from './service/screening-service.ts';
import { createStateFile, errorCode, SandboxState } from './state.ts';
import { createWebhookSender, DEFAULT_WEBHOOKS, headerValue } from './webhook-sender.ts';

const PORTAL_PATH = '/portal/api/v1/transaction-update';

export interface SandboxOptions {
  /** 8090 by default; 0 takes any free port. */
  readonly port?: number;
  /** `127.0.0.1` by default. The control plane always answers loopback callers only. */
  readonly host?: string;
  /** JSON file for the state. Without it the state is lost when the process ends. */
  readonly dataFile?: string;
  /** Receives webhooks about changed decisions. Without it none are sent. */
  readonly webhookUrl?: string | undefined;
  readonly webhookSecret?: string | undefined;
  /** `sandbox-test-key` and `sandbox-live-key` by default. */
  readonly apiKeys?: Keys;
}

export type Sandbox = Awaited<ReturnType<typeof createSandbox>>;

/**
 * Starts a simulated screening service at three base addresses, with a control plane under `/_sandbox/`.
 * @throws if the port is in use or the state file can't be read
 */
export async function createSandbox(options: SandboxOptions = {}) {
  const state = new SandboxState();
  const ledger = createLedger(() => state.clockOffsetMs);
  const faults = new FaultPlan();
  const headers = options.webhookSecret ? { 'X-Webhook-Secret': options.webhookSecret } : {};
  const webhookConfig = { ...DEFAULT_WEBHOOKS, url: options.webhookUrl ?? null, headers };
  const webhooks = createWebhookSender(webhookConfig, ledger, faults);
  const keys = { test: 'sandbox-test-key', live: 'sandbox-live-key', ...options.apiKeys };

  const file = options.dataFile ? createStateFile(options.dataFile, state) : undefined;
  await file?.load();
  const onChange = () => file?.changed();

  const gate = createGate({ ledger, faults, keys, onChange });
  const parts = { state, gate, ledger };
  const control = createControl({ state, ledger, faults, webhooks, keys, onChange });

  const app = createApp(ledger);
  await app.register(async (scope) => screeningRoutes(scope, 'test', parts), { prefix: '/test' });
  await app.register(async (scope) => screeningRoutes(scope, 'live', parts), { prefix: '/live' });
  await app.register(async (scope) => portalRoutes(scope, parts), { prefix: PORTAL_PATH });
  await app.register(async (scope) => controlRoutes(scope, control), { prefix: '/_sandbox' });

  const url = await listen(app, options.port ?? 8090, options.host ?? '127.0.0.1');
  return {
    url,
    testBaseUrl: `${url}/test`,
    liveBaseUrl: `${url}/live`,
    portalBaseUrl: `${url}${PORTAL_PATH}`,
    control,
    /** Closes all connections including hanging ones, saves the state, and frees the port. */
    async close(): Promise<void> {
      gate.close();
      webhooks.close();
      await app.close();
      await file?.close();
    },
  };
}

function createApp(ledger: Ledger): FastifyInstance {
  // The default replies return the path, which may contain a key.
  const refuseUnknown = (reply: FastifyReply, status: number, error: string) => {
    const entry = ledger.open('unknown', 'none');
    entry.outcome.status = status;
    return reply.code(status).send(refuse(status, error).body);
  };
  const app = Fastify({
    // No request log: paths of status requests contain keys, and the ledger has every request.
    logger: false,
    // A request with a hang fault would prevent the server from closing.
    forceCloseConnections: true,
    // Before a route is found, such as for a malformed percent-encoding.
    frameworkErrors: ({ statusCode = 400 }, _request, reply) =>
      void refuseUnknown(reply, statusCode, 'Malformed address'),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
  });
  app.setNotFoundHandler((_request, reply) => refuseUnknown(reply, 404, 'Not Found'));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) console.error('sandbox: a request failed:', error.stack);
    return refuseUnknown(reply, status, error.message);
  });
  return app;
}

async function listen(app: FastifyInstance, port: number, host: string): Promise<string> {
  try {
    return await app.listen({ port, host });
  } catch (error) {
    await app.close();
    if (errorCode(error) === 'EADDRINUSE') {
      throw new Error(`Port ${port} on ${host} is taken. Set SANDBOX_PORT to a free one.`);
    }
    throw error;
  }
}

export const sandboxEnvironment = z.object({
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65535).default(8090),
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  SANDBOX_WEBHOOK_URL: z.url({ protocol: /^https?$/ }).optional(),
  SANDBOX_WEBHOOK_SECRET: headerValue.optional(),
  DATA_DIR: z.string().default('.data'),
});
