/** What somebody who may write to Temporal, and has no key, can do to an order: in plain, or with what was sent to another order. */
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TASK_QUEUE } from '../../src/contract/ids.ts';
import { createDataConverter } from '../../src/starter.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { ago } from './plugin.ts';
import { anOrderId, type Deployment, deploy, type OrderReply } from './support.ts';

const key = { id: 'k1', key: randomBytes(32) };
const PAYLOAD_KEYS = `k1:${key.key.toString('base64')}`;
const PLAIN = /^A payload is not encrypted/;

const server = withTestServer({
  dataConverter: createDataConverter([key], { required: true, refused: 'marked' }),
});
let all: Deployment;
const victim = anOrderId();
const other = anOrderId();

beforeAll(async () => {
  all = await deploy(server.address, { default: {} }, { env: { PAYLOAD_KEYS, PAYLOADS_REQUIRED: 'true' } });
  for (const orderId of [victim, other]) {
    const body = { transaction: withEmail('review@example.com') };
    const { status } = await all.call('POST', `/v1/orders/${orderId}/screening`, body);
    expect(status).toBe(200);
  }
});
afterAll(() => all?.stop());

const orderOf = (client: Client, orderId: string) => client.workflow.getHandle(`order:default:${orderId}`);
const attentionOf = ({ attention }: OrderReply): string[] =>
  attention.map(({ code }: { code: string }) => code);
const refused = (words: RegExp) => ({
  cause: { type: 'invalid-request', message: expect.stringMatching(words) },
});

/** Reads with the key, and sends as it is told to. */
function sends(encode: PayloadCodec['encode']): Client {
  const { connection, namespace } = server;
  const dataConverter: DataConverter = createDataConverter([key]);
  const [codec] = dataConverter.payloadCodecs ?? [];
  if (codec === undefined) throw new Error('no codec');
  const payloadCodecs = [
    { encode, decode: (...read: Parameters<typeof codec.decode>) => codec.decode(...read) },
  ];
  return new Client({ connection, namespace, dataConverter: { ...dataConverter, payloadCodecs } });
}

it('an update and a start in plain are refused, and do nothing', async () => {
  const client = sends(async (payloads) => payloads);
  const asked = orderOf(client, victim).executeUpdate('cancel', { args: [{ reason: 'mine' }] });
  await expect(asked).rejects.toMatchObject(refused(PLAIN));
  const orderId = anOrderId();
  const started = client.workflow.execute('screenOrder', {
    workflowId: `order:default:${orderId}`,
    taskQueue: TASK_QUEUE,
    args: [{ orderId, transaction: withEmail('pass@example.com') }],
  });
  await expect(started).rejects.toMatchObject(refused(PLAIN));
  // It failed for good, which is no fault of the code. Orders of other tests may have tasks that fail.
  expect(all.output()).not.toContain('the code of an order threw an error');
  const { ledger } = all.sandbox.control;
  expect(ledger({ operation: 'cancel-transaction' })).toEqual([]);
  expect(ledger({ operation: 'create-transaction' })).toHaveLength(2);
});

it('a signal in plain is ignored, with attention', async () => {
  await orderOf(
    sends(async (payloads) => payloads),
    victim,
  ).signal('reviewHint', { source: 'webhook' });
  const order = await all.until(victim, (one) => attentionOf(one).includes('message-refused'));
  expect(order.attention[0].words).toMatch(
    /^A signal could not be read, and caused only a read of the status: A payload is not encrypted/,
  );
});

it('what was sent to one order is refused by another, and both go on', async () => {
  const { status } = await all.call('POST', `/v1/orders/${other}/acknowledge`, { reason: 'seen' });
  expect(status).toBe(200);
  const payloads = await acknowledgementOf(other);
  const thief = sends(async () => payloads);
  const asked = orderOf(thief, victim).executeUpdate('acknowledge', { args: [{}] });
  await expect(asked).rejects.toMatchObject(refused(/belongs to another workflow/));
  await orderOf(thief, victim).signal('reviewHint', {});
  for (const orderId of [victim, other]) all.sandbox.control.decide(orderId, 'pass');
  const passed = await all.until(victim, ({ decision }) => decision === 'pass');
  expect(attentionOf(passed)).toEqual(['message-refused']);
  await all.until(other, ({ decision }) => decision === 'pass');
});

it('what somebody says of a portal action in plain is not taken for its outcome', async () => {
  const { control } = all.sandbox;
  control.setFaults({ faults: [{ operation: 'report-fraud', kind: 'hang-before-commit', times: 1 }] });
  const asked = all.call('POST', `/v1/orders/${other}/report-fraud`, {});
  const activityId = await eventually(async () => {
    const { pendingActivities } = await server.client.workflowService.describeWorkflowExecution({
      namespace: server.namespace,
      execution: { workflowId: orderOf(server.client, other).workflowId },
    });
    return (
      pendingActivities?.find(({ activityType }) => activityType?.name === 'performPortalAction')
        ?.activityId ?? false
    );
  });
  const client = sends(async (payloads) => payloads);
  const said = { outcome: { kind: 'done', code: '200' }, began: ago(0), at: ago(0) };
  await client.activity.complete({ workflowId: `order:default:${other}`, activityId }, said);
  await eventually(() => expect(all.output()).toContain('an activity failed for good'));
  // It is tried again after a pause.
  expect((await asked).body).toMatchObject({ status: 'requested' });
  const { body } = await all.call('GET', `/v1/orders/${other}`);
  expect(body.actions).toMatchObject([{ kind: 'report-fraud', status: 'running' }]);
});

/** @returns what an order was sent as the update `acknowledge`, as the server has it */
async function acknowledgementOf(orderId: string): Promise<temporal.api.common.v1.IPayload[]> {
  const execution = { workflowId: `order:default:${orderId}` };
  const { namespace } = server;
  const { workflowService } = server.client;
  const { history } = await workflowService.getWorkflowExecutionHistory({ namespace, execution });
  const sent = (history?.events ?? [])
    .map((event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input)
    .find((input) => input?.name === 'acknowledge');
  const payloads = sent?.args?.payloads ?? [];
  expect(String(payloads[0]?.metadata?.['workflow-id'])).toBe(execution.workflowId);
  return payloads;
}
