/** Orders are read by their memos, on a real server and encrypted: no worker runs while a test here reads. */
import { Client } from '@temporalio/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { instant } from '../../../src/contract/words.ts';
import { numberBeforeEvents } from '../../../src/order/record.ts';
import { createDataConverter, createOrderScreening } from '../../../src/starter.ts';
import { anIntegration } from '../../fixtures/integrations.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { startRaw, untilEnded } from '../operator.ts';
import { anOrderId, aPayloadKey, withDeployment } from '../support.ts';

const { payloadKey: KEY, env } = aPayloadKey();
const server = withTestServer({ dataConverter: createDataConverter([KEY]) });
const all = withDeployment(
  server,
  { default: { events: 'all' }, brief: { events: 'all', cancelWindow: '3s', recheckLeadTime: '0s' } },
  { env, webhooks: false },
);
let review: string;
let terminated: string;
const passed = anOrderId();
const since = instant(Date.now());

const clientWith = (key: typeof KEY) =>
  new Client({ connection: server.connection, dataConverter: createDataConverter([key]) });
/** The client library of a process with this payload key. */
const libraryWith = (key = KEY) =>
  createOrderScreening({
    client: clientWith(key),
    findIntegration: (name) => anIntegration({ name, checkoutBudgetMs: 500, shown: ['email', 'avs'] }),
  });
/** An order's row in a list. */
const rowOf = (orderId: string, key = KEY) =>
  eventually(async () => {
    const [row] = (await libraryWith(key).list({ find: orderId })).orders;
    if (row === undefined) throw new Error('visibility does not have it yet');
    return row;
  });

beforeAll(async () => {
  review = await all.inReview();
  terminated = await all.inReview();
  await server.client.workflow.getHandle(`order:default:${terminated}`).terminate('by the test');
  await all.screen(passed, 'pass', { integration: 'brief' });
  await untilEnded(server.client, `order:brief:${passed}`);
  await all.until(review, ({ events }) => events.waiting === 0);
  await all.worker().stop();
});

it('an order in review is read and listed, in its full view with its policy and events', async () => {
  const shown = { phase: 'review', decision: 'review', action: 'hold' };
  expect(await libraryWith().get({ orderId: review })).toMatchObject({ ...shown, events: { waiting: 0 } });
  const full = await libraryWith().get({ orderId: review }, { view: 'full' });
  expect(full.events.last).toMatchObject([{ type: 'order.decided' }]);
  expect(full.policy).toMatchObject({ events: 'all' });
  expect(full.shown).toEqual({ attempt: 1, email: 'review@example.com', avs: 'Y' });
  expect(full).not.toHaveProperty('leftOut');
  expect(await rowOf(review)).toMatchObject(shown);
});

it('a terminated order is read as it was', async () => {
  const shown = { phase: 'review' };
  expect(await libraryWith().get({ orderId: terminated })).toMatchObject(shown);
  const inspected = { state: shown, summary: { closedAt: expect.any(String) } };
  expect(await libraryWith().inspect({ orderId: terminated })).toMatchObject(inspected);
  expect(await rowOf(terminated)).toMatchObject(shown);
});

it('a closed order is read from its last memo, which costs two events in its life', async () => {
  const order = await libraryWith().get({ orderId: passed, integration: 'brief' });
  const delivered = { sequence: numberBeforeEvents(order) + 2, delivered: 2, waiting: 0 };
  expect(order).toMatchObject({ phase: 'closed', decision: 'pass', events: delivered });
  const { events } = await server.client.workflow.getHandle(`order:brief:${passed}`).fetchHistory();
  expect(events?.filter((event) => event.workflowPropertiesModifiedEventAttributes)).toHaveLength(2);
});

it('with another key its row says so and fails no list, its read is a clear problem, its inspection partial', async () => {
  const { payloadKey: other } = aPayloadKey('other');
  const problem = 'record-unreadable';
  expect(await rowOf(review, other)).toMatchObject({ phase: 'review', problem });
  expect(await rowOf(review)).not.toHaveProperty('problem');
  const message = expect.stringContaining('"e2e"');
  const read = libraryWith(other).get({ orderId: review });
  await expect(read).rejects.toMatchObject({ code: problem, message });
  const partial = { missing: 'undecryptable', summary: { phase: 'review', problem } };
  expect(await libraryWith(other).inspect({ orderId: review })).toMatchObject(partial);
});

describe('an order that no worker has taken', () => {
  const waits = { phase: 'screening', decision: 'pending' };

  it('is read by what the client library started it with', async () => {
    const orderId = anOrderId();
    const answer = await libraryWith().screen({ orderId, transaction: aTransaction() });
    expect(answer).toMatchObject({ decision: 'pending' });
    expect(await libraryWith().get({ orderId })).toMatchObject({ orderId, ...waits, action: 'hold' });
    expect(await rowOf(orderId)).toMatchObject(waits);
  });

  it.each([
    ['without a memo', {}, expect.objectContaining(waits)],
    ['with a memo of something else', { memo: { record: 'x' } }, 'record-unreadable'],
  ])('is listed also when it was started %s, and read if it can be', async (_how, options, wanted) => {
    const orderId = anOrderId();
    await startRaw(clientWith(KEY), orderId, { transaction: aTransaction() }, options);
    const read = libraryWith().get({ orderId });
    expect(await read.catch(({ code }: { code: string }) => code)).toEqual(wanted);
    expect((await rowOf(orderId)).orderId).toBe(orderId);
  });
});

it('a list goes on from the cursor of each page, over open and closed orders', async () => {
  // Other files had this server before.
  const started = { from: since };
  const whole = await libraryWith().list({ limit: 100, started });
  const paged: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await libraryWith().list({ limit: 2, cursor, started });
    paged.push(...page.orders.map(({ orderId }) => orderId));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(paged.length).toBeGreaterThan(4);
  expect(paged).toEqual(whole.orders.map(({ orderId }) => orderId));
});
