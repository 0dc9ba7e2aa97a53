/** What Temporal holds of orders, seen by who has no key. The tests follow one another: keys come, change and go. */
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TASK_QUEUE } from '../../src/contract/ids.ts';
import { createDataConverter } from '../../src/starter.ts';
import { aPreGatewayTransaction, TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const { History } = proto.temporal.api.history.v1;
const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;

const oldKey = { id: 'e2e-old', key: randomBytes(32) };
const newKey = { id: 'e2e-new', key: randomBytes(32) };
const written = (...keys: { id: string; key: Buffer }[]) => ({
  PAYLOAD_KEYS: keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(),
});

/** Every text of the order that could be told from chance. */
const personalData = textsIn(withEmail('review@example.com')).filter((text) => text.length >= 7);

/** For a test that starts processes again and again. */
const RESTARTS_MS = 180_000;

const server = withTestServer({ dataConverter: createDataConverter([newKey, oldKey]) });
let all: Deployment;
const inPlain = anOrderId();
const encrypted = anOrderId();
const laterKey = anOrderId();
/** Nothing happens to it after its first key is gone. */
const atRest = anOrderId();

beforeAll(async () => {
  const poll = { first: '1s', factor: 1, max: '1s' };
  all = await deploy(server.address, { default: { poll } });
});
afterAll(() => all?.stop());

async function screenReview(orderId: string): Promise<void> {
  const answer = await all.call('POST', `/v1/orders/${orderId}/screening`, {
    transaction: withEmail('review@example.com'),
  });
  expect(answer).toMatchObject({ status: 200, body: { decision: 'review', action: 'hold' } });
}

async function resolve(orderId: string): Promise<void> {
  all.sandbox.control.decide(orderId, 'pass');
  await all.until(orderId, ({ phase, decision }) => phase === 'decided' && decision === 'pass');
}

/** Everything that the server tells of an order: history, memo, summary, what is under way. */
async function storedOf(workflowId: string) {
  const asked = { namespace: server.namespace, execution: { workflowId } };
  const { workflowService } = server.client;
  const { history } = await workflowService.getWorkflowExecutionHistory(asked);
  const description = await workflowService.describeWorkflowExecution(asked);
  if (!history) throw new Error('no history');
  const bytes = Buffer.concat([
    History.encode(history).finish(),
    DescribeWorkflowExecutionResponse.encode(description).finish(),
  ]);
  return { events: history.events ?? [], description, text: bytes.toString() };
}

const stored = (orderId: string) => storedOf(`order:default:${orderId}`);

const found = (texts: readonly string[], { text }: { text: string }) =>
  texts.filter((one) => text.includes(one));

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('without keys', () => {
  it('an order is in plain, so that the tests below look for what is there', async () => {
    await screenReview(inPlain);
    expect(found(personalData, await stored(inPlain))).toEqual(personalData);
  });
});

describe('with a key', () => {
  beforeAll(() => all.restart(written(oldKey)));

  it('an order has no personal data and no words of its own in Temporal', async () => {
    await screenReview(encrypted);
    const held = await stored(encrypted);
    expect(found([...personalData, 'pre-acceptance', 'review@'], held)).toEqual([]);
    expect(held.text).toContain('e2e-old');
    const { input } = held.events[0]?.workflowExecutionStartedEventAttributes ?? {};
    const summary = held.description.executionConfig?.userMetadata?.summary;
    for (const payload of [input?.payloads?.[0], summary]) {
      expect(String(payload?.metadata?.encoding)).toBe('binary/encrypted');
    }
  });

  it('what fails and is tried again says its type, and no words', async () => {
    await eventually(async () => {
      const { pendingActivities } = (await stored(encrypted)).description;
      expect(pendingActivities).toMatchObject([
        { lastFailure: { message: 'Encoded failure', stackTrace: '', encodedAttributes: { metadata: {} } } },
      ]);
    });
  });

  it('what fails for good says its type, and its words to who has the key', async () => {
    const { connection, namespace } = server;
    const client = new Client({ connection, namespace, dataConverter: createDataConverter([oldKey]) });
    const orderId = anOrderId();
    const workflowId = `order:default:${orderId}`;
    const started = await client.workflow.start('screenOrder', {
      workflowId,
      taskQueue: TASK_QUEUE,
      args: [{ orderId, transaction: aPreGatewayTransaction() }],
    });
    await expect(started.result()).rejects.toMatchObject({
      cause: { type: 'card-data-in-request', message: expect.stringMatching(/card/i) },
    });
    const held = await storedOf(workflowId);
    const end = held.events.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
    expect(end).toMatchObject({
      message: 'Encoded failure',
      stackTrace: '',
      applicationFailureInfo: { type: 'card-data-in-request' },
    });
    expect(found([...personalData, 'pass@example.com', 'cardNumber', TEST_CARD.cardNumber], held)).toEqual(
      [],
    );
  });

  it('its record in the memo is encrypted, too', async () => {
    await screenReview(atRest);
    const { memo } = (await stored(atRest)).description.workflowExecutionInfo ?? {};
    expect(String(memo?.fields?.record?.metadata?.encoding)).toBe('binary/encrypted');
  });

  it('an order that began in plain goes on', async () => {
    await resolve(inPlain);
    const { events } = await stored(inPlain);
    expect(keysOf(events)).toEqual(['e2e-old']);
  });
});

describe('while a key is rotated', () => {
  it(
    'an order in review and a new one go on, and read well, at every step',
    async () => {
      await all.restart(written(oldKey, newKey));
      expect((await all.call('GET', `/v1/orders/${encrypted}`)).body).toMatchObject({ phase: 'review' });

      await all.restart(written(newKey, oldKey));
      await screenReview(laterKey);
      expect(keysOf((await stored(laterKey)).events)).toEqual(['e2e-new']);
      await resolve(encrypted);
      await resolve(laterKey);
      expect(keysOf((await stored(encrypted)).events)).toEqual(['e2e-new', 'e2e-old']);
      expect(found(personalData, await stored(encrypted))).toEqual([]);
    },
    RESTARTS_MS,
  );

  it(
    'a key taken away too early is named, harms no other order, and loses nothing',
    async () => {
      await all.restart(written(newKey));
      expect((await all.call('GET', `/v1/orders/${laterKey}`)).body).toMatchObject({ decision: 'pass' });
      // Its record was written with the new key.
      expect((await all.call('GET', `/v1/orders/${encrypted}`)).body).toMatchObject({ decision: 'pass' });
      const refused = await all.call('GET', `/v1/orders/${atRest}`);
      expect(refused).toMatchObject({ status: 500, body: { type: '/problems/record-unreadable' } });
      const { body } = await all.call('GET', `/v1/orders?find=${atRest}`);
      expect(body.orders).toMatchObject([{ orderId: atRest, phase: 'review', problem: 'record-unreadable' }]);
      await eventually(() => {
        expect(all.output()).toMatch(/unknown-payload-key.*"keyId":"e2e-old"/);
      });
      for (const { key } of [oldKey, newKey]) expect(all.output()).not.toContain(key.toString('base64'));

      await all.restart(written(newKey, oldKey));
      // Its workflow task failed meanwhile, and is tried again with growing pauses.
      await all.until(encrypted, ({ decision }) => decision === 'pass');
    },
    RESTARTS_MS,
  );
});

/** The ids of the keys that the payloads of a history name. */
function keysOf(events: proto.temporal.api.history.v1.IHistoryEvent[]): string[] {
  const text = Buffer.from(History.encode({ events }).finish()).toString('latin1');
  return [...new Set(text.match(/e2e-(?:old|new)/g))].sort();
}
