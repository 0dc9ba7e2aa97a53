/** What the log promises during an outage, with every process at its most verbose: the cause, in few lines, and nothing secret. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { createDataConverter } from '../../src/codec/index.ts';
import { loadClientSettings } from '../../src/config/load-config.ts';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { anAddress, aTransaction, withEmail } from '../fixtures/transactions.ts';
import { sightings } from '../support/canaries.ts';
import { eventually, freePort } from '../support/index.ts';
import { poison } from './poison.ts';
import { anOrderId, type Deployment, deploy, WEBHOOK_SECRET } from './support.ts';

const OUTAGE_MS = 30_000;
const ORDER_EVERY_MS = 5_000;
const CAUSE_WITHIN_MS = 10_000;
const MAX_LINES = 60;

const API_KEY = randomBytes(18).toString('base64url');
const PAYLOAD_KEY = randomBytes(32).toString('base64');
const SERVICE_KEY = 'sandbox-test-key';
const BUYER = { firstName: 'Marigold', lastName: 'Drillhammer', address: '9 Fire Escape' };
const EMAIL = 'review+marigold.drillhammer@example.com';
const PHONE = '+1 217 555 0199';
const CARD = '4012888888881881';

const line = z.looseObject({ level: z.number(), time: z.number(), msg: z.string() });
type Line = z.infer<typeof line>;

/** Matches a line about a connection that fails. Answers of the API are not among them. */
const OF_A_CONNECTION = /reach|connect|unavailable|deadline|does not answer|refuse|not take|transport|tcp/i;
const GIVES_REASON = /"(why|reason)":"/;

let temporal: EmbeddedTemporal;
let connection: Connection;
let all: Deployment;

beforeAll(async () => {
  temporal = await startEmbeddedTemporal({ port: 0 });
  connection = await Connection.connect({ address: temporal.address });
  const policy = { checkoutBudget: '3s', poll: { first: '2s', factor: 1, max: '2s' }, events: 'all' };
  const unreachable = { ...policy, baseUrl: `http://127.0.0.1:${await freePort()}/test` };
  const env = {
    LOG_LEVEL: 'trace',
    API_KEYS: `shop:${API_KEY}`,
    PAYLOAD_KEYS: `k1:${PAYLOAD_KEY}`,
  };
  all = await deploy(temporal.address, { default: policy, unreachable }, { apiKey: API_KEY, env });
}, 300_000);
afterAll(async () => {
  await all?.stop();
  await connection?.close();
  await temporal?.stop();
});

async function placeOrder(integration: string): Promise<string> {
  const orderId = anOrderId();
  const address = { ...anAddress(), ...BUYER };
  const creditCard = { cardType: 'Visa', cardNumber: CARD, expirationDate: '11/2037', last4: CARD.slice(-4) };
  const transaction = {
    ...withEmail(EMAIL, aTransaction()),
    billTo: { ...address, phoneNumber: PHONE },
    shipTo: address,
    payment: { creditCard },
  };
  const path = `/v1/orders/${orderId}/screening?integration=${integration}`;
  const { status, body } = await all.call('POST', path, { transaction });
  if (status >= 400 && status < 500) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return orderId;
}

/** @returns everything that worker and API have logged since; a line that isn't of their log is an error */
function linesSince(since: number): Line[] {
  const lines = all.output().split('\n').filter(Boolean);
  return lines.map((text) => line.parse(JSON.parse(text))).filter(({ time }) => time >= since);
}

const OUTAGES = [
  {
    name: 'the receiver of events fails',
    integration: 'default',
    begin: () => all.refuseEvents(true),
    end: () => all.refuseEvents(false),
    cause: 'the events receiver did not accept an event',
    reason: '"http-503"',
    counts: /^order_screening_event_age_seconds_count\{.*outcome="failed".*\} [1-9]/m,
  },
  {
    name: 'the screening service does not accept the API key',
    integration: 'default',
    begin: () => all.sandbox.control.setKeys({ test: 'a-changed-key' }),
    end: () => all.sandbox.control.setKeys({ test: SERVICE_KEY }),
    cause: 'the screening service does not accept our API key',
    reason: '"forbidden"',
    counts: /^order_screening_attention_total\{.*reason="wrong-key".*\} [1-9]/m,
  },
  {
    name: 'a build of the worker can not run an order',
    integration: 'default',
    begin: async () => {
      const orderId = await placeOrder('default');
      const dataConverter = createDataConverter(loadClientSettings(all.settings).payloadKeys);
      const client = new Client({ connection, dataConverter });
      await poison({ client, namespace: temporal.namespace }, `order:default:${orderId}`);
    },
    cause: 'this build can not run an order, its task is tried again',
    reason: '"reason":"',
    counts: /^temporal_workflow_task_execution_failed\{.*\} [1-9]/m,
  },
  {
    name: 'the screening service is unreachable',
    integration: 'unreachable',
    begin: () => undefined,
    cause: 'the screening service does not answer',
    reason: '"connection-refused"',
    counts: /^order_screening_screenings_total\{.*outcome="pending".*\} [1-9]/m,
  },
  {
    name: 'Temporal is unreachable',
    integration: 'default',
    begin: () => temporal.kill('SIGKILL'),
    cause: 'Temporal can not be reached, the call is tried again',
    reason: '"ConnectionRefused"',
    counts: /^order_screening_http_request_duration_seconds_count\{.*status="503".*\} [1-9]/m,
  },
];

it.each(OUTAGES)(
  '$name: the log names the cause, briefly, with the reason',
  { timeout: 180_000 },
  async (outage) => {
    const { integration, begin, end, cause, reason, counts } = outage;
    await eventually(() => placeOrder('default'), { timeoutMs: 60_000 });
    const began = Date.now();
    await begin();
    while (Date.now() < began + OUTAGE_MS) {
      await placeOrder(integration);
      await sleep(ORDER_EVERY_MS);
    }
    const lines = linesSince(began);
    const pages = await Promise.all(
      [`${all.apiUrl}/metrics`, all.workerMetricsUrl()].map(async (url) => (await fetch(url)).text()),
    );
    end?.();

    const first = lines.find((one) => one.msg === cause && JSON.stringify(one).includes(reason));
    expect(first?.time, JSON.stringify(lines, null, 1)).toBeLessThan(began + CAUSE_WITHIN_MS);
    expect(lines.length, JSON.stringify(lines, null, 1)).toBeLessThan(MAX_LINES);
    const unexplained = lines
      .filter(({ msg }) => msg !== 'answered')
      .map((one) => JSON.stringify(one))
      .filter((text) => OF_A_CONNECTION.test(text) && !GIVES_REASON.test(text));
    expect(unexplained).toEqual([]);
    expect(pages.some((page) => counts.test(page))).toBe(true);
  },
);

it('no line holds a key, a card or a person', () => {
  const secrets = {
    ...BUYER,
    email: EMAIL,
    phone: PHONE,
    cardNumber: CARD,
    'API key': API_KEY,
    'service key': SERVICE_KEY,
    'payload key': PAYLOAD_KEY,
    'webhook secret': WEBHOOK_SECRET,
    'events secret': all.settings.EVENTS_SECRETS ?? '',
  };
  const canaries = Object.entries(secrets).map(([name, text]) => ({ name, text }));
  expect(sightings([{ name: 'the log', bytes: Buffer.from(all.output()) }], canaries)).toEqual([]);
});
