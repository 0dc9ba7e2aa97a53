/** The deployment that the pictures show: `npm start` with a few orders, and the sandbox as its screening service. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalStack, startLocalStack } from '../../src/dev/local-stack.ts';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { withEmail } from '../../test/fixtures/transactions.ts';

/** Long enough for each review to be polled. */
const POLLED_AFTER_MS = 12_000;

const ORDERS = [
  { orderId: '1001', integration: 'default', email: 'review@example.com', amount: '249.00' },
  { orderId: '1002', integration: 'default', email: 'review@example.com', amount: '1180.00' },
  { orderId: '1003', integration: 'default', email: 'pass@example.com', amount: '64.50' },
  { orderId: '1004', integration: 'weekend', email: 'review@example.com', amount: '89.90' },
  { orderId: '1005', integration: 'outlet', email: 'review@example.com', amount: '412.00' },
  { orderId: '1006', integration: 'default', email: 'fail@example.com', amount: '35.00' },
  { orderId: '1007', integration: 'tokyo', email: 'review@example.com', amount: '184000', currency: 'JPY' },
  { orderId: '1008', integration: 'kuwait', email: 'review@example.com', amount: '312.75', currency: 'KWD' },
  { orderId: '1009', integration: 'default', email: 'review@example.com', amount: '533.10', currency: 'EUR' },
] as const;

/**
 * Starts the deployment and waits until its reviews have been polled.
 * @throws Error if it doesn't start
 */
export async function startStack(): Promise<Pick<LocalStack, 'apiUrl' | 'temporalUiUrl' | 'stop'>> {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-screenshots-'));
  const sandbox = await createSandbox({ port: 0 });
  const policyFile = join(directory, 'policy.json');
  const { testBaseUrl: baseUrl, portalBaseUrl } = sandbox;
  const shared = { baseUrl, portalBaseUrl, poll: { first: '3s', factor: 1, max: '4s' } };
  // Shorter windows than the screening service's default, which test accounts may have, so that deadlines differ.
  const integrations = {
    default: shared,
    weekend: { ...shared, cancelWindow: '40h' },
    outlet: { ...shared, cancelWindow: '9h' },
    tokyo: { ...shared, cancelWindow: '80m' },
    kuwait: { ...shared, cancelWindow: '30h' },
  };
  await writeFile(policyFile, JSON.stringify({ integrations }));
  const { apiUrl, temporalUiUrl, stop } = await startLocalStack({
    ...process.env,
    TEMPORAL_PORT: '0',
    TEMPORAL_UI_PORT: '0',
    API_PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
    DATA_DIR: directory,
    SCREENING_CONFIG: policyFile,
    SCREENING_API_KEY: 'sandbox-test-key',
    WEBHOOK_SECRETS: randomBytes(18).toString('base64url'),
  });
  for (const order of ORDERS) await screen(apiUrl, order);
  await post(`${apiUrl}/v1/orders/1005/recheck?integration=outlet`);
  await sleep(POLLED_AFTER_MS);
  return {
    apiUrl,
    temporalUiUrl,
    stop: async () => {
      await stop();
      await sandbox.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function screen(
  apiUrl: string,
  { orderId, integration, email, amount, ...order }: (typeof ORDERS)[number],
) {
  const currency = 'currency' in order ? order.currency : 'USD';
  const transaction = { ...withEmail(email), amount, currency_code: currency };
  await post(`${apiUrl}/v1/orders/${orderId}/screening?integration=${integration}`, { transaction });
}

async function post(url: string, body: unknown = {}): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${new URL(url).pathname} returned ${response.status}`);
}
