/** What the log promises during an outage, with every process at its most verbose: the cause, in few lines, and nothing secret. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createDataConverter } from '../../src/codec/index.ts';
import { loadClientSettings } from '../../src/config/load-config.ts';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { anAddress, aTransaction, withEmail } from '../fixtures/transactions.ts';
import { sightings } from '../support/canaries.ts';
import { eventually, freePort } from '../support/index.ts';
import { poison } from './operator.ts';
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

/** Matches a line about a connection that fails. Answers of the API are not among them. */
const OF_A_CONNECTION = /reach|connect|unavailable|deadline|does not answer|refuse|not take|transport|tcp/i;
const GIVES_REASON = /"(why|reason)":"/;

/** A deployment of its own for each outage. */
interface Stack {
  temporal: EmbeddedTemporal;
  all: Deployment;
}

async function startStack(): Promise<Stack> {
  const temporal = await startEmbeddedTemporal({ port: 0 });
  const policy = { checkoutBudget: '3s', poll: { first: '2s', factor: 1, max: '2s' }, events: 'all' };
  const unreachable = { ...policy, baseUrl: `http://127.0.0.1:${await freePort()}/test` };
  const env = { LOG_LEVEL: 'debug', API_KEYS: `shop:${API_KEY}`, PAYLOAD_KEYS: `k1:${PAYLOAD_KEY}` };
  const all = await deploy(temporal.address, { default: policy, unreachable }, { apiKey: API_KEY, env });
  await eventually(() => placeOrder(all), { timeoutMs: 60_000 });
  return { temporal, all };
}

async function placeOrder(all: Deployment, integration = 'default'): Promise<string> {
  const orderId = anOrderId();
  const address = { ...anAddress(), ...BUYER };
  const creditCard = { cardType: 'Visa', cardNumber: CARD, expirationDate: '11/2037', last4: CARD.slice(-4) };
  const transaction = {
    ...withEmail(EMAIL, aTransaction()),
    billTo: { ...address, phoneNumber: PHONE },
    shipTo: address,
    payment: { creditCard },
  };
  const { status, body } = await all.screen(orderId, '', { integration, transaction });
  if (status >= 400 && status < 500) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return orderId;
}

/** Everything that worker and API have logged; a line that isn't of their log is an error. */
const linesOf = (all: Deployment) =>
  all
    .output()
    .split('\n')
    .filter(Boolean)
    .map((text) => line.parse(JSON.parse(text)));

interface Outage {
  name: string;
  integration?: string;
  begin: (stack: Stack) => unknown;
  cause: string;
  reason: string;
  /** A metric that counts it. */
  counts: RegExp;
}

const OUTAGES: Outage[] = [
  {
    name: 'the receiver of events fails',
    begin: ({ all }) => all.refuseEvents(true),
    cause: 'the events receiver did not accept an event',
    reason: '"http-503"',
    counts: /^order_screening_event_age_seconds_count\{.*outcome="failed".*\} [1-9]/m,
  },
  {
    name: 'the screening service does not accept the API key',
    begin: ({ all }) => all.sandbox.control.setKeys({ test: 'a-changed-key' }),
    cause: 'the screening service does not accept our API key',
    reason: '"forbidden"',
    counts: /^order_screening_attention_total\{.*reason="wrong-key".*\} [1-9]/m,
  },
  {
    name: 'a build of the worker can not run an order',
    begin: async ({ temporal: { address }, all }) => {
      const orderId = await placeOrder(all);
      const connection = await Connection.connect({ address });
      const dataConverter = createDataConverter(loadClientSettings(all.settings).payloadKeys);
      await poison(new Client({ connection, dataConverter }), orderId);
      await connection.close();
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
    begin: ({ temporal }) => temporal.kill('SIGKILL'),
    cause: 'Temporal can not be reached, the call is tried again',
    reason: '"ConnectionRefused"',
    counts: /^order_screening_http_request_duration_seconds_count\{.*status="503".*\} [1-9]/m,
  },
];

/** All start before the first outage begins. The outages are at once, since each mostly waits. */
const stacks: Stack[] = [];
beforeAll(async () => {
  for (const _outage of OUTAGES) stacks.push(await startStack());
}, 300_000);
afterAll(async () => {
  for (const { all, temporal } of stacks) {
    await all.stop();
    await temporal.stop();
  }
}, 120_000);

describe.concurrent('the log', () => {
  it.each(OUTAGES.map((outage, index) => ({ ...outage, index })))(
    '$name: names the cause, briefly, with the reason, and no key, card or person',
    { timeout: 180_000 },
    async ({ index, integration, begin, cause, reason, counts }) => {
      const stack = stacks[index];
      if (stack === undefined) throw new Error('its deployment did not start');
      const { all } = stack;
      const began = Date.now();
      await begin(stack);
      while (Date.now() < began + OUTAGE_MS) {
        await placeOrder(all, integration);
        await sleep(ORDER_EVERY_MS);
      }
      const lines = linesOf(all).filter(({ time }) => time >= began);
      const metrics = (await (await fetch(`${all.apiUrl}/metrics`)).text()) + (await all.workerMetrics());

      const first = lines.find((one) => one.msg === cause && JSON.stringify(one).includes(reason));
      const shown = JSON.stringify(lines, null, 1);
      expect(first?.time, shown).toBeLessThan(began + CAUSE_WITHIN_MS);
      expect(lines.length, shown).toBeLessThan(MAX_LINES);
      const unexplained = lines
        .filter(({ msg }) => msg !== 'answered')
        .map((one) => JSON.stringify(one))
        .filter((text) => OF_A_CONNECTION.test(text) && !GIVES_REASON.test(text));
      expect(unexplained).toEqual([]);
      expect(metrics).toMatch(counts);
      const log = { name: 'the log', bytes: Buffer.from(all.output()) };
      expect(sightings([log], secretsOf(all))).toEqual([]);
    },
  );
});

function secretsOf({ settings: { EVENTS_SECRETS = '' } }: Deployment) {
  const secrets = {
    ...BUYER,
    email: EMAIL,
    phone: PHONE,
    cardNumber: CARD,
    'API key': API_KEY,
    'service key': SERVICE_KEY,
    'payload key': PAYLOAD_KEY,
    'webhook secret': WEBHOOK_SECRET,
    'events secret': EVENTS_SECRETS,
  };
  return Object.entries(secrets).map(([name, text]) => ({ name, text }));
}
