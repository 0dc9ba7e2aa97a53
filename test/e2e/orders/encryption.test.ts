/** What Temporal holds of orders, seen without a key. The tests follow one another: keys come, change and go. */
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDataConverter } from '../../../src/starter.ts';
import { aPreGatewayTransaction, TEST_CARD, withEmail } from '../../fixtures/transactions.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { describeRaw, startRaw } from '../operator.ts';
import { anOrderId, withDeployment } from '../support.ts';

const { History } = proto.temporal.api.history.v1;
const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;

const oldKey = { id: 'e2e-old', key: randomBytes(32) };
const newKey = { id: 'e2e-new', key: randomBytes(32) };
const written = (...keys: (typeof oldKey)[]) => ({
  PAYLOAD_KEYS: keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(),
});

/** Every text of the order that is too long to be found by chance. */
const personalData = textsIn(withEmail('review@example.com')).filter((text) => text.length >= 7);

/** For a test that starts processes again and again. */
const RESTARTS_MS = 180_000;

const server = withTestServer({ dataConverter: createDataConverter([newKey, oldKey]) });
const all = withDeployment(server, { default: { poll: { first: '1s', factor: 1, max: '1s' } } });
let inPlain: string;
let encrypted: string;
/** Nothing happens to it after its first key is gone. */
let atRest: string;

async function resolve(orderId: string): Promise<void> {
  all.sandbox.control.decide(orderId, 'pass');
  await all.until(orderId, ({ phase, decision }) => phase === 'decided' && decision === 'pass');
}

/** Everything that the server tells of an order: history, memo, summary, pending activities. */
async function stored(orderId: string) {
  const workflowId = `order:default:${orderId}`;
  const { events = [] } = await server.client.workflow.getHandle(workflowId).fetchHistory();
  const description = await describeRaw(server.client, workflowId);
  const history = Buffer.from(History.encode({ events }).finish());
  const text = `${history}${Buffer.from(DescribeWorkflowExecutionResponse.encode(description).finish())}`;
  /** The ids of the keys that its payloads name. */
  const keys = [...new Set(history.toString('latin1').match(/e2e-(?:old|new)/g))].sort();
  return { events: events ?? [], description, text, keys };
}

const found = (texts: readonly string[], { text }: { text: string }) =>
  texts.filter((one) => text.includes(one));

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

it('without keys an order is in plain, so that the tests below look for what is there', async () => {
  inPlain = await all.inReview();
  expect(found(personalData, await stored(inPlain))).toEqual(personalData);
});

describe('with a key', () => {
  beforeAll(() => all.restart(written(oldKey)));

  it('an order has no personal data and no words of its own in Temporal', async () => {
    encrypted = await all.inReview();
    atRest = await all.inReview();
    const held = await stored(encrypted);
    expect(found([...personalData, 'pre-acceptance', 'review@'], held)).toEqual([]);
    expect(held.keys).toEqual(['e2e-old']);
    const { input } = held.events[0]?.workflowExecutionStartedEventAttributes ?? {};
    const { executionConfig, workflowExecutionInfo } = held.description;
    const summary = executionConfig?.userMetadata?.summary;
    for (const payload of [input?.payloads?.[0], summary, workflowExecutionInfo?.memo?.fields?.record])
      expect(String(payload?.metadata?.encoding)).toBe('binary/encrypted');
  });

  it('what fails and is tried again says its type, and no words', async () => {
    await eventually(async () => {
      const { pendingActivities } = (await stored(encrypted)).description;
      expect(pendingActivities).toMatchObject([
        { lastFailure: { message: 'Encoded failure', stackTrace: '', encodedAttributes: { metadata: {} } } },
      ]);
    });
  });

  it('what fails for good says its type, and its words only with the key', async () => {
    const dataConverter = createDataConverter([oldKey]);
    const client = new Client({ connection: server.connection, dataConverter });
    const orderId = anOrderId();
    const started = await startRaw(client, orderId, { transaction: aPreGatewayTransaction() });
    const type = 'card-data-in-request';
    const cause = { type, message: expect.stringMatching(/card/i) };
    await expect(started.result()).rejects.toMatchObject({ cause });
    const held = await stored(orderId);
    const end = held.events.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
    const shown = { message: 'Encoded failure', stackTrace: '', applicationFailureInfo: { type } };
    expect(end).toMatchObject(shown);
    const secret = [...personalData, 'pass@example.com', 'cardNumber', TEST_CARD.cardNumber];
    expect(found(secret, held)).toEqual([]);
  });

  it('an order that began in plain goes on', async () => {
    await resolve(inPlain);
    expect((await stored(inPlain)).keys).toEqual(['e2e-old']);
  });
});

describe('while a key is rotated', () => {
  let laterKey: string;

  it(
    'an order in review and a new one go on, and read well, at every step',
    async () => {
      await all.restart(written(oldKey, newKey));
      expect(await all.read(encrypted)).toMatchObject({ phase: 'review' });

      await all.restart(written(newKey, oldKey));
      laterKey = await all.inReview();
      expect((await stored(laterKey)).keys).toEqual(['e2e-new']);
      await resolve(encrypted);
      await resolve(laterKey);
      const held = await stored(encrypted);
      expect(held.keys).toEqual(['e2e-new', 'e2e-old']);
      expect(found(personalData, held)).toEqual([]);
    },
    RESTARTS_MS,
  );

  it(
    'a key taken away too early is named, harms no other order, and loses nothing',
    async () => {
      await all.restart(written(newKey));
      // The record of the second one was written with the new key.
      for (const orderId of [laterKey, encrypted])
        expect(await all.read(orderId)).toMatchObject({ decision: 'pass' });
      const refused = await all.call('GET', `/v1/orders/${atRest}`);
      expect(refused).toMatchObject({ status: 500, body: { type: '/problems/record-unreadable' } });
      const { body } = await all.call('GET', `/v1/orders?find=${atRest}`);
      expect(body.orders).toMatchObject([{ orderId: atRest, phase: 'review', problem: 'record-unreadable' }]);
      await eventually(() => expect(all.output()).toMatch(/unknown-payload-key.*"keyId":"e2e-old"/));
      for (const { key } of [oldKey, newKey]) expect(all.output()).not.toContain(key.toString('base64'));

      await all.restart(written(newKey, oldKey));
      // Its workflow task failed meanwhile, and is tried again with growing pauses.
      await all.until(encrypted, ({ decision }) => decision === 'pass');
    },
    RESTARTS_MS,
  );
});
