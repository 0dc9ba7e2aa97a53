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
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../../src/dev/embedded-temporal.ts';
import type { FaultPlanInput } from '../../../src/sandbox/fault-plan.ts';
import { anAddress, aPreGatewayTransaction, withEmail } from '../../fixtures/transactions.ts';
import { type Canary, type Place, sightings } from '../../support/canaries.ts';
import { eventually } from '../../support/index.ts';
import { listed } from '../../support/replays.ts';
import { needRedis, type RedisServer, startRedis } from '../../support/servers/redis-server.ts';
import { describeRaw, runCli, startRaw } from '../operator.ts';
import { EVENTS_SECRET } from '../receiver.ts';
import { anOrderId, type Deployment, deploy, WEBHOOK_SECRET } from '../support.ts';

const { History } = proto.temporal.api.history.v1;
const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;

const CARD = { cardNumber: '4012888888881881', expirationDate: '11/2037', cardCode: '739' };
const OTHER_CARD = { cardNumber: '5105105105105100', expirationDate: '10/2038', cardCode: '846' };
const API_KEY = `the-key-of-the-shop-${randomBytes(8).toString('hex')}`;
const PAYLOAD_KEY = randomBytes(32).toString('base64');
const STASH_KEY = randomBytes(32).toString('base64');
const REDIS_PASSWORD = `redis-${randomBytes(8).toString('hex')}`;
const CODEC_TOKEN = randomBytes(24).toString('base64url');

const DISGUISED = '3714-496353-98431';

const card: Canary[] = [CARD, OTHER_CARD].flatMap(({ cardNumber, expirationDate, cardCode }) => [
  { name: 'card number', text: cardNumber },
  { name: 'card number, in groups', text: cardNumber.replace(/(.{4})(?=.)/g, '$1 ') },
  { name: 'expiry', text: expirationDate },
  { name: 'expiry', text: `"expirationDate":"${expirationDate.slice(0, 2)}` },
  // Three digits stand everywhere: they are looked for as they would be written.
  { name: 'card code', text: `cardCode":"${cardCode}` },
  { name: 'card code', text: `cardCode: '${cardCode}` },
]);
card.push({ name: 'card number, in disguise', text: DISGUISED });
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
  { name: 'events secret', text: EVENTS_SECRET },
  { name: 'codec token', text: CODEC_TOKEN },
];

let directory: string;
let temporal: EmbeddedTemporal;
let client: Client;
let redis: RedisServer;
let all: Deployment;
const replies: string[] = [];

beforeAll(async () => {
  await needRedis();
  directory = await mkdtemp(join(tmpdir(), 'order-screening-canary-'));
  redis = await startRedis({ password: REDIS_PASSWORD });
  temporal = await startEmbeddedTemporal({ port: 0, dataDir: directory });
  const { address, namespace } = temporal;
  client = new Client({ connection: await Connection.connect({ address }), namespace });
  const quick = {
    workflow: 'pre-gateway',
    checkoutBudget: '3s',
    poll: { first: '300ms', factor: 1, max: '300ms' },
  };
  const rescreenOnError = { tries: 1, pause: '200ms' };
  all = await deploy(
    address,
    {
      default: { ...quick, invoicePerAttempt: true },
      short: { ...quick, cancelWindow: '4s', rescreenOnError },
    },
    {
      apiKey: API_KEY,
      env: {
        LOG_LEVEL: 'debug',
        API_KEYS: `shop:${API_KEY}`,
        // A fast machine plants more in a second than the default lets one key ask.
        API_MAX_RPS: '1000',
        PAYLOAD_KEYS: `canary:${PAYLOAD_KEY}`,
        CODEC_TOKEN,
        CARD_STASH_URL: redis.url,
        CARD_STASH_KEYS: `canary:${STASH_KEY}`,
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
  const name = { firstName: 'Canarinette', lastName: 'McCanaryface' };
  const shipTo = { ...anAddress(), ...name, address: '77 Canary Wharf' };
  return {
    ...withEmail(`${decision}+canary-of-ada@example.com`, aPreGatewayTransaction()),
    billTo: { ...shipTo, phoneNumber: '+1 212 555 0177' },
    shipTo,
    customerIP: '203.0.113.177',
    payment: { creditCard: { cardType: 'Visa', ...given } },
  };
}

async function call(method: string, path: string, body?: unknown) {
  const reply = await all.call(method, path, body);
  replies.push(JSON.stringify([...reply.headers]), JSON.stringify(reply.body ?? ''));
  return reply;
}

/** Sends a request that the OpenAPI document doesn't have: to a page or to the receiver of webhooks. */
async function ask(path: string, request: RequestInit = {}): Promise<number> {
  const headers = { authorization: `Bearer ${API_KEY}` };
  const reply = await fetch(`${all.apiUrl}${path}`, { headers, ...request });
  replies.push(JSON.stringify([...reply.headers]), await reply.text());
  return reply.status;
}

const screen = (orderId: string, transaction: object, more: object = {}) =>
  call('POST', `/v1/orders/${orderId}/screening`, { transaction, ...more });
const withFault = (fault: FaultPlanInput['faults'][number]) =>
  all.sandbox.control.setFaults({ faults: [fault] });

/** Everything that was written, everywhere. */
async function places(): Promise<Place[]> {
  const found: Place[] = [
    { name: 'the logs', bytes: Buffer.from(all.output()) },
    { name: 'answers of the API', bytes: Buffer.from(replies.join('\n')) },
    { name: 'events', bytes: Buffer.from(JSON.stringify(all.events)) },
    { name: 'metrics', bytes: Buffer.from(await (await fetch(`${all.apiUrl}/metrics`)).text()) },
    { name: 'metrics', bytes: Buffer.from(await all.workerMetrics()) },
  ];
  for await (const { workflowId, runId } of listed(client, '')) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const description = await describeRaw(client, workflowId);
    const parts = [
      History.encode(history).finish(),
      DescribeWorkflowExecutionResponse.encode(description).finish(),
    ];
    found.push({ name: 'a history', bytes: Buffer.concat(parts) });
  }
  for (const file of await readdir(directory)) {
    found.push({ name: `Temporal's ${file}`, bytes: await readFile(join(directory, file)) });
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
  const hook = `/v1/webhooks/default/${WEBHOOK_SECRET}`;

  it('pass, fail, are reviewed, retried, canceled, reported and charged back', async () => {
    for (const decision of ['pass', 'fail', 'review', 'error']) {
      const orderId = anOrderId();
      expect((await screen(orderId, marked(decision), { integration: 'short' })).status).toBeLessThan(300);
      if (decision === 'error') whileCardsWait = await redisDump();
    }
    const retried = anOrderId();
    expect((await screen(retried, marked('fail'))).body).toMatchObject({ action: 'decline' });
    const second = { attempt: 2 };
    const answer = await screen(retried, marked('pass', OTHER_CARD), second);
    expect(answer.body).toMatchObject({ decision: 'pass' });
    expect((await screen(retried, marked('pass'), second)).status).toBe(409);
    expect((await call('GET', `/v1/transactions/${retried}`)).status).toBe(200);
    withFault({ operation: 'status', kind: 'reset-before-commit', times: 1 });
    expect((await call('GET', `/v1/transactions/${retried}`)).status).toBe(503);
    for (const [path, body] of Object.entries({
      'gateway-result': { attempt: 2, result: 'pass', authcode: 'A1' },
      'report-fraud': { reason: 'called by the bank' },
      chargebacks: { reason_code: '10.4', due_date: '2037-01-31' },
      'customer-code': { customerCode: 'code-1' },
      cancel: {},
    }))
      await call('POST', `/v1/orders/${retried}/${path}`, body);
    expect((await call('GET', `/v1/orders/${retried}`)).body).toMatchObject({ phase: 'canceled' });
    for (const page of [`/orders/${retried}`, `/transactions/${retried}`])
      expect(await ask(`${page}?integration=default`)).toBe(200);
    expect(whileCardsWait.bytes.length).toBeGreaterThan(100);
  });

  it.each(['hang-after-commit', 'reset-before-commit', '5xx-after-commit', 'malformed-body', '403'] as const)(
    'meet a service that answers with %s',
    async (kind) => {
      const orderId = anOrderId();
      withFault({ operation: 'create-transaction', kind, times: 2 });
      expect(await screen(orderId, marked('pass'))).toMatchObject({ body: { orderId } });
      withFault({ operation: 'status-by-url', kind: '403', times: 1 });
      await ask(`${hook}?invoiceNumber=${orderId}`);
      await call('GET', `/v1/orders/${orderId}`);
      all.sandbox.control.clearFaults();
    },
  );

  it('lose their worker while the service holds the card', { timeout: 120_000 }, async () => {
    const orderId = anOrderId();
    withFault({ operation: 'create-transaction', kind: 'delay', delayMs: 800, times: 1 });
    const waiting = screen(orderId, marked('pass'));
    await eventually(() => expect(all.requests('create-transaction', orderId)).toHaveLength(1));
    await all.killWorker();
    await all.startWorker();
    await waiting;
    const isPassed = async () => expect((await all.read(orderId)).decision).toBe('pass');
    await eventually(isPassed, { timeoutMs: 90_000 });
  });

  it('are refused with card data in a wrong place, as it is and in disguise', async () => {
    const order = marked('pass');
    const text = `number ${DISGUISED}`;
    const wrong = [
      { ...order, note: CARD.cardNumber },
      { ...order, userFields: { [text]: text } },
      { ...order, customer: { email: CARD.cardNumber } },
      marked('pass', { ...CARD, expirationDate: '11/2007' }),
      { apiKey: 'sandbox-test-key' },
    ];
    const refused = await Promise.all([
      ...wrong.map((transaction) => screen(anOrderId(), transaction)),
      screen(encodeURIComponent(text), order),
      call('POST', '/v1/orders/1001/cancel', { reason: text }),
    ]);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([422]));
    const { stdout, stderr } = await runCli(['cancel', '1001', '--reason', text], all.settings);
    replies.push(stdout, stderr);
    const body = { id: text, invoiceNumber: text, [text]: text };
    await ask(hook, { method: 'POST', body: JSON.stringify(body) });
    expect((await call('POST', `/v1/webhooks/default/${API_KEY}`, body)).status).toBe(401);
  });

  it('leave card data nowhere, personal data nowhere in plain, and keys nowhere', async () => {
    await eventually(async () => {
      const ended = await client.workflow.count("ExecutionStatus = 'Completed'");
      expect(ended.count).toBeGreaterThan(1);
    });
    for (const page of ['/', '/?list=every', '/?wall=1', '/days', '/queue.csv', '/no-page'])
      expect(await ask(page)).toBe(page === '/no-page' ? 404 : 200);
    expect(all.events.length).toBeGreaterThan(1);
    const searched = [...(await places()), whileCardsWait];
    expect(searched.length).toBeGreaterThan(20);
    expect(sightings(searched, [...card, ...personal, ...keys])).toEqual([]);
  });

  it('would be found, were they kept in plain', async () => {
    const orderId = anOrderId();
    const started = await startRaw(client, orderId, { transaction: marked('pass') });
    await expect(started.result()).rejects.toThrow();
    const found = sightings(await places(), [...card, ...personal]);
    for (const place of ['a history', "Temporal's temporal.db"]) {
      for (const name of ['card number', 'expiry', 'card code', 'e-mail', 'street']) {
        expect(found.join('\n')).toMatch(new RegExp(`^${name} in ${place}`, 'm'));
      }
    }
    expect(found.filter((one) => /the logs|answers|events|metrics|Redis/.test(one))).toEqual([]);
  });
});
