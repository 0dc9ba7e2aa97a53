/** What an operator or another tool sends past the API, by the `temporal` command or an SDK: it stops no order. */
import { randomUUID } from 'node:crypto';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import { expect, it } from 'vitest';
import { updateOf } from '../../../src/client/messages/send-update.ts';
import { decisionUpdateId, TASK_QUEUE } from '../../../src/contract/ids.ts';
import { decisionUpdate, recheckSignal, SCREEN_ORDER } from '../../../src/contract/messages.ts';
import { createDataConverter } from '../../../src/starter.ts';
import { withEmail } from '../../fixtures/transactions.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { describeRaw, orderOf, pendingActivity, temporalCli } from '../operator.ts';
import { anOrderId, aPayloadKey, withDeployment } from '../support.ts';

const { payloadKey, env } = aPayloadKey();
const dataConverter = createDataConverter([payloadKey], { refused: 'marked' });
const server = withTestServer({ dataConverter });
const temporal = temporalCli(server);
const all = withDeployment(server, { default: { events: 'all' } }, { env, webhooks: false });

const idOf = (orderId: string) => `order:default:${orderId}`;
const client = () => new Client({ connection: server.connection, dataConverter });
const start = (orderId: string, ...more: string[]) =>
  temporal(
    'workflow',
    'start',
    ...orderOf(orderId),
    '--type',
    SCREEN_ORDER,
    '--task-queue',
    TASK_QUEUE,
    ...more,
  );
const pass = { transaction: withEmail('pass@example.com') };
const isPassed = { status: 200, body: { decision: 'pass' } };

/** The start was refused, so the order id is free. */
async function isRefused(orderId: string, errors?: unknown): Promise<void> {
  await expect(client().workflow.getHandle(idOf(orderId)).result()).rejects.toMatchObject({
    cause: { type: 'invalid-request', ...(errors !== undefined && { details: [{ errors }] }) },
  });
  expect(all.sandbox.control.transactions(orderId)).toEqual([]);
  expect(await all.screen(orderId)).toMatchObject(isPassed);
  expect(await all.screen(orderId)).toMatchObject(isPassed);
  expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
}

/** Nothing failed the order's workflow task, and its review resolves. */
async function goesOn(orderId: string, attention: string[] = []): Promise<void> {
  const order = await all.until(orderId, ({ decision }) => decision === 'pass');
  expect(order.attention.map(({ code }: { code: string }) => code)).toEqual(attention);
  const shown = await temporal('workflow', 'show', ...orderOf(orderId), '--output', 'json');
  expect(shown).not.toContain('WORKFLOW_TASK_FAILED');
}

/** Completes an activity with `{}` in that encoding, which the command can't. */
const completeAs = (encoding: string) => async (orderId: string, activityId: string) => {
  const { workflowService, options } = server.client;
  const workflow = { namespace: options.namespace, workflowId: idOf(orderId), activityId };
  const payload = { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from('{}') };
  await workflowService.respondActivityTaskCompletedById({ ...workflow, result: { payloads: [payload] } });
};
it.each([
  [
    'with a word',
    (orderId: string, id: string) =>
      temporal('activity', 'complete', ...orderOf(orderId), '--activity-id', id, '--result', '"pass"'),
  ],
  ['in encoding json/protobuf', completeAs('json/protobuf')],
  ['in an unknown encoding', completeAs('no/such-encoding')],
])('a poll that is completed by hand %s counts as a failed try', async (_how, complete) => {
  const orderId = await all.inReview();
  await complete(orderId, await pendingActivity(server.client, idOf(orderId)));
  await eventually(async () => {
    const { pendingActivities } = await describeRaw(server.client, idOf(orderId));
    expect(pendingActivities?.map(({ activityType }) => activityType?.name)).not.toContain('pollStatus');
  });
  expect(await all.read(orderId)).toMatchObject({ phase: 'review', attention: [] });
  all.sandbox.control.decide(orderId, 'pass');
  await temporal('workflow', 'signal', ...orderOf(orderId), '--name', 'recheck');
  await goesOn(orderId);
});

it('events whose delivery an operator completes are kept, without attention', async () => {
  // The command completes only what a worker is at work on.
  all.refuseEvents('late');
  const orderId = await all.inReview();
  const delivery = ['--activity-id', await pendingActivity(server.client, idOf(orderId), 'deliverEvents')];
  await temporal('activity', 'complete', ...orderOf(orderId), ...delivery, '--result', '"done"');
  await eventually(async () => {
    const { pendingActivities } = await describeRaw(server.client, idOf(orderId));
    expect(pendingActivities?.map(({ activityType }) => activityType?.name)).toEqual(['pollStatus']);
  });
  const { attention, events } = await all.read(orderId);
  expect({ attention, events }).toMatchObject({ attention: [], events: { waiting: 1, delivered: 0 } });
  all.refuseEvents(false);
});

it.each([[[]], [['--reset-heartbeats']]])(
  'a screening that is reset %j creates no second transaction',
  async (more) => {
    const orderId = anOrderId();
    const operation = 'create-transaction';
    all.sandbox.control.setFaults({
      faults: [
        { operation, kind: '429', times: 1 },
        { operation, kind: '5xx-after-commit', times: 1 },
      ],
    });
    expect(await all.screen(orderId)).toMatchObject({ status: 202 });
    const id = await pendingActivity(server.client, idOf(orderId), 'catchUp');
    await eventually(async () => {
      const { pendingActivities } = await describeRaw(server.client, idOf(orderId));
      expect(pendingActivities).toContainEqual(expect.objectContaining({ activityId: id, attempt: 3 }));
    });
    await temporal('activity', 'reset', ...orderOf(orderId), '--activity-id', id, ...more);
    await goesOn(orderId);
    const sent = all.sandbox.control.ledger({ invoice: orderId }).map((one) => one.operation);
    expect(sent).toEqual([operation, operation, 'status-by-invoice']);
  },
);

const meta = (...pairs: string[]) => pairs.flatMap((pair) => ['--input-meta', pair]);
it.each([
  ['protobuf as JSON', ['--input', '{}', ...meta('encoding=json/protobuf')], ['message-refused']],
  ['an unknown encoding', ['--input', '{}', ...meta('encoding=no/such-encoding')], ['message-refused']],
  [
    'ciphertext of an unknown key',
    ['--input', `"${'A'.repeat(40)}"`, ...meta('encoding=binary/encrypted', 'encryption-key-id=other')],
    [],
  ],
])(
  '%s only causes a read as a signal, and is refused as an update and a start',
  async (_what, payload, raised) => {
    for (const name of ['recheck', 'reviewHint']) {
      const orderId = await all.inReview();
      const update = ['workflow', 'update', 'execute', ...orderOf(orderId), '--name', 'cancel', ...payload];
      await expect(temporal(...update)).rejects.toThrow(/invalid-request/);
      expect(await all.read(orderId)).toMatchObject({ phase: 'review', actions: [] });
      all.sandbox.control.decide(orderId, 'pass');
      await temporal('workflow', 'signal', ...orderOf(orderId), '--name', name, ...payload);
      await goesOn(orderId, raised);
    }
    const started = anOrderId();
    await start(started, ...payload);
    await isRefused(started);
  },
);

const timeOut = (path: string) => [{ path, message: expect.stringContaining('must not be set') }];
it.each([
  ['with a run timeout', pass, ['--run-timeout', '1h'], timeOut('runTimeout')],
  ['with an execution timeout', pass, ['--execution-timeout', '1h'], timeOut('executionTimeout')],
  ['without a transaction', {}, [], [expect.objectContaining({ path: 'transaction' })]],
])('a start %s is refused, and leaves the order id to the next one', async (_how, input, more, errors) => {
  const orderId = anOrderId();
  await start(orderId, '--input', JSON.stringify({ orderId, ...input }), ...more);
  await isRefused(orderId, expect.arrayContaining(errors));
});

it('an adoption that is refused under the update id of a checkout leaves the order id to the next one', async () => {
  const orderId = anOrderId();
  const adopt = { transactionId: randomUUID(), screenedAt: new Date().toISOString() };
  const startWorkflowOperation = new WithStartWorkflowOperation(SCREEN_ORDER, {
    workflowId: idOf(orderId),
    taskQueue: TASK_QUEUE,
    args: [{ orderId, ...pass, adopt }],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  const update = updateOf(decisionUpdate, { attempt: 1 }, {}, decisionUpdateId(1));
  const asked = client().workflow.executeUpdateWithStart(decisionUpdate, {
    ...update,
    startWorkflowOperation,
  });
  await expect(asked).rejects.toMatchObject({ cause: { type: 'unknown-transaction' } });
  expect(await all.screen(orderId)).toMatchObject(isPassed);
  expect(await all.screen(orderId)).toMatchObject(isPassed);
  expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
});

it('an order that was started without a fingerprint gives its answer to the same content, and to no other', async () => {
  const orderId = anOrderId();
  await start(orderId, '--input', JSON.stringify({ orderId, ...pass }));
  await all.until(orderId, ({ decision }) => decision === 'pass');
  const changed = await all.screen(orderId, 'fail');
  expect([changed.status, changed.body.type]).toEqual([409, '/problems/attempt-mismatch']);
  expect(await all.screen(orderId)).toMatchObject(isPassed);
  expect(all.sandbox.control.transactions(orderId)).toHaveLength(1);
});

it('a signal that comes before the first task is no sign of a lost one: the transaction is created at once', async () => {
  const orderId = anOrderId();
  await client().workflow.signalWithStart(SCREEN_ORDER, {
    workflowId: idOf(orderId),
    taskQueue: TASK_QUEUE,
    args: [{ orderId, ...pass }],
    signal: recheckSignal,
    signalArgs: [],
  });
  await goesOn(orderId);
  const [first] = all.sandbox.control.ledger({ invoice: orderId });
  expect(first).toMatchObject({ operation: 'create-transaction' });
});
