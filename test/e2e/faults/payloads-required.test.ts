/** What a sender who may write to Temporal, and has no key, can do to an order: in plaintext, or with a message to a different order. */
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import { beforeAll, expect, it } from 'vitest';
import { TASK_QUEUE } from '../../../src/contract/ids.ts';
import { UPDATES } from '../../../src/contract/messages.ts';
import { createDataConverter } from '../../../src/starter.ts';
import { withEmail } from '../../fixtures/transactions.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { ago, pendingActivity } from '../operator.ts';
import { anOrderId, type OrderReply, withDeployment } from '../support.ts';

const key = { id: 'k1', key: randomBytes(32) };
const PAYLOAD_KEYS = `k1:${key.key.toString('base64')}`;
const PLAIN = /: A payload is not encrypted/;

const server = withTestServer({
  dataConverter: createDataConverter([key], { required: true, refused: 'marked' }),
});
const all = withDeployment(server, { default: {} }, { env: { PAYLOAD_KEYS, PAYLOADS_REQUIRED: 'true' } });
let victim: string;
let other: string;

beforeAll(async () => {
  victim = await all.inReview();
  other = await all.inReview();
});

const orderOf = (client: Client, orderId: string) => client.workflow.getHandle(`order:default:${orderId}`);
const attentionOf = ({ attention }: OrderReply): string[] =>
  attention.map(({ code }: { code: string }) => code);
const refused = (words: RegExp) => ({
  cause: { type: 'invalid-request', message: expect.stringMatching(words) },
});

/** Reads with the key, and sends what `encode` makes. */
function sends(encode: PayloadCodec['encode']): Client {
  const { connection } = server;
  const dataConverter: DataConverter = createDataConverter([key]);
  const [codec] = dataConverter.payloadCodecs ?? [];
  if (codec === undefined) throw new Error('no codec');
  const payloadCodecs = [
    { encode, decode: (...read: Parameters<typeof codec.decode>) => codec.decode(...read) },
  ];
  return new Client({ connection, dataConverter: { ...dataConverter, payloadCodecs } });
}
const inPlain = () => sends(async (payloads) => payloads);

it('an update and a start in plain are refused and do nothing; a signal is ignored, with attention', async () => {
  const client = inPlain();
  const asked = orderOf(client, victim).executeUpdate('cancel', { args: [{ reason: 'mine' }] });
  await expect(asked).rejects.toMatchObject(refused(PLAIN));
  const orderId = anOrderId();
  const started = client.workflow.execute('screenOrder', {
    workflowId: `order:default:${orderId}`,
    taskQueue: TASK_QUEUE,
    args: [{ orderId, transaction: withEmail('pass@example.com') }],
  });
  await expect(started).rejects.toMatchObject(refused(PLAIN));
  // The start failed for good, which is no fault of the code.
  expect(all.output()).not.toContain('the code of an order threw an error');
  expect(all.requests('cancel-transaction', victim)).toEqual([]);
  expect(all.requests('create-transaction', orderId)).toEqual([]);
  await orderOf(client, victim).signal('reviewHint', { source: 'webhook' });
  const order = await all.until(victim, (one) => attentionOf(one).includes('message-refused'));
  expect(order.attention[0].words).toMatch(
    /^A signal could not be read, and caused only a read of the status: A payload is not encrypted/,
  );
});

/** Reads the payload of an accepted update from the history, as anybody can. */
async function storedPayload(orderId: string, name: string) {
  const { events } = await orderOf(server.client, orderId).fetchHistory();
  const payloads = events
    ?.map((event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input)
    .find((input) => input?.name === name)?.args?.payloads;
  if (!payloads) throw new Error(`the history has no ${name}`);
  return payloads;
}

it('an update without input, or with a stored one, changes neither decision, action nor policy', async () => {
  const orderId = await all.inReview();
  await all.call('POST', `/v1/orders/${orderId}/override`, { action: 'proceed', reason: 'seen' });
  const stored = await storedPayload(orderId, 'override');
  const before = await all.until(orderId, ({ events }) => events.waiting === 0);
  const invalid = { cause: { type: 'invalid-request' } };
  const [thief, order] = [
    orderOf(
      sends(async () => stored),
      orderId,
    ),
    orderOf(inPlain(), orderId),
  ];
  for (const { name } of Object.values(UPDATES)) {
    await expect(order.executeUpdate(name), name).rejects.toMatchObject(invalid);
    for (const input of [null, {}, undefined])
      await expect(order.executeUpdate(name, { args: [input] }), name).rejects.toMatchObject(invalid);
    await expect(thief.executeUpdate(name, { args: [{}] }), name).rejects.toMatchObject(invalid);
  }
  expect(await all.read(orderId)).toEqual(before);
  expect(all.requests('cancel-transaction', orderId)).toEqual([]);
});

it.each(['reviewHint', 'recheck'])(
  'a %s without input causes reads of the status and nothing else',
  async (signal) => {
    const orderId = await all.inReview();
    const before = await all.until(orderId, ({ events }) => events.waiting === 0);
    const sent = () => all.sandbox.control.ledger({ invoice: orderId }).map(({ operation }) => operation);
    expect(sent()).toEqual(['create-transaction']);
    const order = orderOf(inPlain(), orderId);
    for (const args of [[], [undefined]]) await order.signal(signal, ...args);
    await eventually(() => expect(sent()).toContain('status-by-url'), { timeoutMs: 20_000 });
    expect(new Set(sent())).toEqual(new Set(['create-transaction', 'status-by-url']));
    expect(all.requests('create-transaction', orderId)).toHaveLength(1);
    const { decision, action, phase, actions, attention, events } = before;
    const after = await all.read(orderId);
    expect(after).toMatchObject({ decision, action, phase, actions, attention, events });
    expect(after.attempts).toHaveLength(1);
  },
);

it('what was sent to one order is refused by another, and both go on', async () => {
  await all.call('POST', `/v1/orders/${other}/acknowledge`, { reason: 'seen' });
  const payloads = await storedPayload(other, 'acknowledge');
  const thief = sends(async () => payloads);
  const asked = orderOf(thief, victim).executeUpdate('acknowledge', { args: [{}] });
  await expect(asked).rejects.toMatchObject(refused(/belongs to another workflow/));
  await orderOf(thief, victim).signal('reviewHint', {});
  for (const orderId of [victim, other]) all.sandbox.control.decide(orderId, 'pass');
  const passed = await all.until(victim, ({ decision }) => decision === 'pass');
  expect(attentionOf(passed)).toEqual(['message-refused']);
  await all.until(other, ({ decision }) => decision === 'pass');
});

it('an outcome of a portal action in plain is not taken for its outcome', async () => {
  all.sandbox.control.setFaults({
    faults: [{ operation: 'report-fraud', kind: 'hang-before-commit', times: 1 }],
  });
  const asked = all.call('POST', `/v1/orders/${other}/report-fraud`, {});
  const workflowId = `order:default:${other}`;
  const activityId = await pendingActivity(server.client, workflowId, 'performPortalAction');
  const said = { outcome: { kind: 'done', code: '200' }, began: ago(0), at: ago(0) };
  await inPlain().activity.complete({ workflowId, activityId }, said);
  await eventually(() => expect(all.output()).toContain('an activity failed for good'));
  // It is tried again after a pause.
  expect((await asked).body).toMatchObject({ status: 'requested' });
  const { actions } = await all.read(other);
  expect(actions).toMatchObject([{ kind: 'report-fraud', status: 'running' }]);
});
