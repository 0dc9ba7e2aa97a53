/**
 * Orders with marked card, personal data and keys go every way that an order can go, with every process at its most talkative;
 * then everything that was written anywhere is searched for the marks.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import type { FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { anAddress, aPreGatewayTransaction, withEmail } from '../fixtures/transactions.ts';
import { type Canary, type Place, sightings } from '../support/canaries.ts';
import { eventually, freePort } from '../support/index.ts';
import { needRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { listed } from '../support/replays.ts';
import { plantEverywhere } from './canary-plants.ts';
import { anOrderId, type Deployment, deploy, WEBHOOK_SECRET } from './support.ts';

const { History } = proto.temporal.api.history.v1;
const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;

const CARD = { cardNumber: '4012888888881881', expirationDate: '11/2037', cardCode: '739' };
const OTHER_CARD = { cardNumber: '5105105105105100', expirationDate: '10/2038', cardCode: '846' };
const API_KEY = `the-key-of-the-shop-${randomBytes(8).toString('hex')}`;
const PAYLOAD_KEY = randomBytes(32).toString('base64');
const STASH_KEY = randomBytes(32).toString('base64');
const REDIS_PASSWORD = `redis-${randomBytes(8).toString('hex')}`;
const CODEC_TOKEN = randomBytes(24).toString('base64url');

const card: Canary[] = [CARD, OTHER_CARD].flatMap(({ cardNumber, expirationDate, cardCode }) => [
  { name: 'card number', text: cardNumber },
  { name: 'card number, in groups', text: cardNumber.replace(/(.{4})(?=.)/g, '$1 ') },
  { name: 'expiry', text: expirationDate },
  { name: 'expiry', text: `"expirationDate":"${expirationDate.slice(0, 2)}` },
  // Three digits stand everywhere: they are looked for as they would be written.
  { name: 'card code', text: `cardCode":"${cardCode}` },
  { name: 'card code', text: `cardCode: '${cardCode}` },
]);
const personal: Canary[] = [
  { name: 'e-mail', text: 'canary-of-ada@example.com' },
  { name: 'first name', text: 'Canarinette' },
  { name: 'last name', text: 'McCanaryface' },
  { name: 'street', text: '77 Canary Wharf' },
  { name: 'phone', text: '+1 212 555 0177' },
  { name: 'ip address', text: '203.0.113.177' },
];
const keys: Canary[] = [
  { name: 'service key', text: 'sandbox-test-key' },
  { name: 'API key', text: API_KEY },
  { name: 'payload key', text: PAYLOAD_KEY },
  { name: 'card stash key', text: STASH_KEY },
  { name: 'Redis password', text: REDIS_PASSWORD },
  { name: 'webhook secret', text: WEBHOOK_SECRET },
  { name: 'codec token', text: CODEC_TOKEN },
];

let directory: string;
let temporal: EmbeddedTemporal;
let client: Client;
let redis: RedisServer;
let all: Deployment;
let workerMetrics: number;
const replies: string[] = [];
let planted: Canary[] = [];

beforeAll(async () => {
  await needRedis();
  directory = await mkdtemp(join(tmpdir(), 'order-screening-canary-'));
  redis = await startRedis({ password: REDIS_PASSWORD });
  temporal = await startEmbeddedTemporal({ port: 0, dataDir: directory });
  const { address, namespace } = temporal;
  client = new Client({ connection: await Connection.connect({ address }), namespace });
  workerMetrics = await freePort();
  const quick = { checkoutBudget: '3s', poll: { first: '300ms', factor: 1, max: '300ms' } };
  all = await deploy(
    address,
    {
      default: { ...quick, workflow: 'pre-gateway', invoicePerAttempt: true },
      short: {
        ...quick,
        workflow: 'pre-gateway',
        cancelWindow: '4s',
        rescreenOnError: { tries: 1, pause: '200ms' },
      },
    },
    {
      apiKey: API_KEY,
      env: {
        LOG_LEVEL: 'trace',
        API_KEYS: `shop:${API_KEY}`,
        // A fast machine plants more in a second than the default lets one key ask.
        API_MAX_RPS: '1000',
        PAYLOAD_KEYS: `canary:${PAYLOAD_KEY}`,
        CODEC_TOKEN,
        CARD_STASH_URL: redis.url,
        CARD_STASH_KEYS: `canary:${STASH_KEY}`,
        METRICS_PORT: String(workerMetrics),
      },
    },
  );
}, 300_000);
afterAll(async () => {
  await all?.stop();
  await client?.connection.close();
  await temporal?.stop();
  await redis?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** A buyer of whom everything is marked. `decision`: what the sandbox decides by. */
function marked(decision: string, given: object = CARD) {
  const transaction = withEmail(`${decision}+canary-of-ada@example.com`, aPreGatewayTransaction());
  const address = {
    ...anAddress(),
    firstName: 'Canarinette',
    lastName: 'McCanaryface',
    address: '77 Canary Wharf',
  };
  const payment = { creditCard: { cardType: 'Visa', ...given } };
  return {
    ...transaction,
    billTo: { ...address, phoneNumber: '+1 212 555 0177' },
    shipTo: address,
    customerIP: '203.0.113.177',
    payment,
  };
}

async function call(method: string, path: string, body?: unknown) {
  const reply = await all.call(method, path, body);
  replies.push(JSON.stringify([...reply.headers]), JSON.stringify(reply.body ?? ''));
  return reply;
}

const screen = (orderId: string, transaction: object, more: object = {}) =>
  call('POST', `/v1/orders/${orderId}/screening`, { transaction, ...more });
const withFault = (fault: FaultPlanInput['faults'][number]) =>
  all.sandbox.control.setFaults({ faults: [fault] });

async function bytesOf(workflowId: string, runId: string): Promise<Buffer> {
  const asked = { namespace: temporal.namespace, execution: { workflowId, runId } };
  const { history } = await client.workflowService.getWorkflowExecutionHistory(asked);
  const description = await client.workflowService.describeWorkflowExecution(asked);
  return Buffer.concat([
    History.encode(history ?? {}).finish(),
    DescribeWorkflowExecutionResponse.encode(description).finish(),
  ]);
}

/** Everything that was written, everywhere. */
async function places(): Promise<Place[]> {
  const found: Place[] = [
    { name: 'the logs', bytes: Buffer.from(all.output()) },
    { name: 'answers of the API', bytes: Buffer.from(replies.join('\n')) },
  ];
  for await (const { workflowId, runId } of listed(client, '')) {
    found.push({ name: 'a history', bytes: await bytesOf(workflowId, runId) });
  }
  for (const file of await readdir(directory)) {
    found.push({ name: `Temporal's ${file}`, bytes: await readFile(join(directory, file)) });
  }
  for (const url of [`${all.apiUrl}/metrics`, `http://127.0.0.1:${workerMetrics}/metrics`]) {
    found.push({ name: 'metrics', bytes: Buffer.from(await (await fetch(url)).text()) });
  }
  return [...found, await redisDump()];
}

async function redisDump(): Promise<Place> {
  const held: Buffer[] = [];
  await redis.until(async (connected) => {
    for (const key of await connected.keys('*')) {
      held.push(Buffer.from(key), Buffer.from((await connected.get(key)) ?? ''));
    }
  });
  return { name: 'Redis', bytes: Buffer.concat(held) };
}

describe('marked orders', () => {
  let whileCardsWait: Place;

  it('pass, fail, are reviewed, retried, canceled, reported and charged back', async () => {
    for (const decision of ['pass', 'fail', 'review', 'error']) {
      const orderId = anOrderId();
      expect((await screen(orderId, marked(decision), { integration: 'short' })).status).toBeLessThan(300);
      if (decision === 'error') whileCardsWait = await redisDump();
    }
    const retried = anOrderId();
    expect((await screen(retried, marked('fail'))).body).toMatchObject({ action: 'decline' });
    const second = { attempt: 2 };
    expect((await screen(retried, marked('pass', OTHER_CARD), second)).body).toMatchObject({
      decision: 'pass',
    });
    expect((await screen(retried, marked('pass'), second)).status).toBe(409);
    await call('POST', `/v1/orders/${retried}/gateway-result`, {
      attempt: 2,
      result: 'pass',
      authcode: 'A1',
    });
    expect((await call('GET', `/v1/transactions/${retried}`)).status).toBe(200);
    withFault({ operation: 'status', kind: 'reset-before-commit', times: 1 });
    expect((await call('GET', `/v1/transactions/${retried}`)).status).toBe(503);
    await call('POST', `/v1/orders/${retried}/report-fraud`, { reason: 'called by the bank' });
    await call('POST', `/v1/orders/${retried}/chargebacks`, { reason_code: '10.4', due_date: '2037-01-31' });
    await call('POST', `/v1/orders/${retried}/customer-code`, { customerCode: 'code-1' });
    expect((await call('POST', `/v1/orders/${retried}/cancel`, {})).status).toBe(200);
    expect(whileCardsWait.bytes.length).toBeGreaterThan(100);
  });

  it.each([
    'hang-before-commit',
    'hang-after-commit',
    'reset-before-commit',
    'reset-after-commit',
    '5xx-after-commit',
    'malformed-body',
    'truncated-reply',
    'unknown-decision',
    'reply-without-id',
    '403',
    '429',
  ] as const)('meet a service that answers with %s', async (kind) => {
    const orderId = anOrderId();
    withFault({ operation: 'create-transaction', kind, times: 2 });
    expect(await screen(orderId, marked('pass'))).toMatchObject({ body: { orderId } });
    withFault({ operation: 'status-by-url', kind: '403', times: 1 });
    await fetch(`${all.apiUrl}/v1/webhooks/default/${WEBHOOK_SECRET}?invoiceNumber=${orderId}`);
    await call('GET', `/v1/orders/${orderId}`);
    all.sandbox.control.setFaults({ faults: [] });
  });

  it('lose their worker while the service holds the card', { timeout: 120_000 }, async () => {
    const orderId = anOrderId();
    withFault({ operation: 'create-transaction', kind: 'delay', delayMs: 800, times: 1 });
    const waiting = screen(orderId, marked('pass'));
    await eventually(() => {
      expect(all.sandbox.control.ledger({ operation: 'create-transaction', invoice: orderId })).toHaveLength(
        1,
      );
    });
    all.worker().kill('SIGKILL');
    await all.startWorker();
    await waiting;
    await eventually(
      async () => {
        const { body } = await call('GET', `/v1/orders/${orderId}`);
        expect(body).toMatchObject({ decision: 'pass' });
      },
      { timeoutMs: 90_000 },
    );
  });

  it('are refused with their data in the wrong place', async () => {
    const { cardNumber, cardCode } = CARD;
    const wrong = [
      { ...marked('pass'), note: cardNumber },
      { ...marked('pass'), userFields: { card: cardNumber } },
      { ...marked('pass', { ...CARD, cardCode: `${cardCode}${cardCode}` }) },
      { ...marked('pass', { ...CARD, expirationDate: '11/2007' }) },
      { ...marked('pass'), customer: { email: cardNumber } },
      { ...marked('pass'), lineItems: cardNumber },
      { apiKey: 'sandbox-test-key' },
    ];
    for (const transaction of wrong) {
      expect((await screen(anOrderId(), transaction)).status).toBeGreaterThanOrEqual(400);
    }
    expect((await call('POST', `/v1/webhooks/default/${API_KEY}`, { id: cardNumber })).status).toBe(401);
  });

  it('are refused with card numbers in all disguises, everywhere', { timeout: 120_000 }, async () => {
    planted = await plantEverywhere(all, call);
  });

  it('leave card data nowhere, personal data nowhere in plain, and keys nowhere', async () => {
    await eventually(async () => {
      const ended = await client.workflow.count("ExecutionStatus = 'Completed'");
      expect(ended.count).toBeGreaterThan(1);
    });
    const searched = [...(await places()), whileCardsWait];
    expect(searched.length).toBeGreaterThan(20);
    expect(sightings(searched, [...card, ...personal, ...keys, ...planted])).toEqual([]);
  });

  it('would be found, were they kept in plain', async () => {
    const orderId = anOrderId();
    await client.workflow.start('screenOrder', {
      taskQueue: 'order-screening',
      workflowId: `order:default:${orderId}`,
      args: [{ orderId, transaction: marked('pass') }],
    });
    const handle = client.workflow.getHandle(`order:default:${orderId}`);
    await expect(handle.result()).rejects.toThrow();
    const found = sightings(await places(), [...card, ...personal]);
    for (const place of ['a history', "Temporal's temporal.db"]) {
      for (const name of ['card number', 'expiry', 'card code', 'e-mail', 'street']) {
        expect(found.join('\n')).toMatch(new RegExp(`^${name} in ${place}`, 'm'));
      }
    }
    expect(found.filter((one) => /the logs|answers|metrics|Redis/.test(one))).toEqual([]);
  });
});
