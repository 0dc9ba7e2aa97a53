import Fastify, { type FastifyInstance } from 'fastify';
import { errorCode } from '../error-code.ts';
import { refuse } from './answers.ts';
import { createControl, type SandboxControl } from './control.ts';
import { controlRoutes } from './control-routes.ts';
import { FaultPlan } from './fault-plan.ts';
import { Gate } from './gate.ts';
import { Ledger } from './ledger.ts';
import { PortalService } from './portal-service.ts';
import { type Keys, portalRoutes, screeningRoutes } from './routes.ts';
import { ScreeningService } from './screening-service.ts';
import { SandboxState } from './state.ts';
import { StateFile } from './state-file.ts';
import { DEFAULT_WEBHOOKS, WebhookSender } from './webhook-sender.ts';

const PORTAL_PATH = '/portal/api/v1/transaction-update';

export interface SandboxOptions {
  /** 8090 unless given; 0 takes any free port. */
  readonly port?: number;
  /** `127.0.0.1` unless given. The control plane answers loopback callers only, whatever this is. */
  readonly host?: string;
  /** JSON file the state is kept in; without it, the state ends with the process. */
  readonly dataFile?: string;
  /** Where changed decisions are told; none are without it. */
  readonly webhookUrl?: string;
  /** Sent with each webhook as `X-Webhook-Secret`. */
  readonly webhookSecret?: string;
  /** `sandbox-test-key` and `sandbox-live-key` unless given. */
  readonly apiKeys?: Keys;
}

export interface Sandbox {
  readonly url: string;
  readonly testBaseUrl: string;
  readonly liveBaseUrl: string;
  readonly portalBaseUrl: string;
  readonly control: SandboxControl;
  /** Ends open connections (hanging ones too), saves the state, and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts a stand-in for the screening service (interface document) at three base addresses, with a control
 * plane under `/_sandbox/`. Throws when the port is taken or the state file can't be read.
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const state = new SandboxState();
  const ledger = new Ledger(() => state.clockOffsetMs);
  const faults = new FaultPlan();
  const headers: Record<string, string> = options.webhookSecret
    ? { 'X-Webhook-Secret': options.webhookSecret }
    : {};
  const webhooks = new WebhookSender(
    { ...DEFAULT_WEBHOOKS, url: options.webhookUrl ?? null, headers },
    ledger,
    faults,
  );
  const keys: Keys = { ...(options.apiKeys ?? { test: 'sandbox-test-key', live: 'sandbox-live-key' }) };

  const file = options.dataFile
    ? new StateFile(options.dataFile, () => ({ state: state.snapshot(), ledger: ledger.snapshot() }))
    : undefined;
  const saved = await file?.load();
  if (saved) {
    state.restore(saved.state);
    ledger.restore(saved.ledger);
  }
  const onChange = () => file?.changed();

  const gate = new Gate(ledger, faults, onChange);
  const parts = {
    gate,
    screening: new ScreeningService(state),
    portal: new PortalService(state, ledger),
    keys: () => keys,
  };
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
    async close() {
      gate.close();
      webhooks.close();
      await app.close();
      await file?.close();
    },
  };
}

function createApp(ledger: Ledger): FastifyInstance {
  const app = Fastify({
    // Addresses of status requests hold keys; the ledger says what there is to say.
    logger: false,
    // A request that hangs by plan would keep the server from closing.
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
  });
  const noSubject = { transactionId: null, invoiceNumber: null };
  // Both replace handlers that would repeat the address, and with it the key.
  app.setNotFoundHandler((_request, reply) => {
    ledger.open('unknown', 'none', noSubject).outcome.status = 404;
    return reply.code(404).send(refuse(404, 'Not Found').body);
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    ledger.open('unknown', 'none', noSubject).outcome.status = status;
    if (status >= 500) console.error('sandbox: a request failed:', error.stack);
    return reply.code(status).send(refuse(status, error.message).body);
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
