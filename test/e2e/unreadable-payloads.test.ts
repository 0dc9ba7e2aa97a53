/** What an operator sends by the `temporal` command, or the UI, that nobody can read: it stops no order. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOrder } from '../../src/client/describe-order.ts';
import { createDataConverter } from '../../src/starter.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy, type OrderReply } from './support.ts';
import { temporalCli } from './temporal-cli.ts';

const key = { id: 'k1', key: randomBytes(32) };
const server = withTestServer({ dataConverter: createDataConverter([key], { refused: 'marked' }) });
const temporal = temporalCli(server);
let all: Deployment;

beforeAll(async () => {
  const PAYLOAD_KEYS = `k1:${key.key.toString('base64')}`;
  all = await deploy(server.address, { default: {} }, { env: { PAYLOAD_KEYS }, webhooks: false });
});
afterAll(() => all?.stop());

const idOf = (orderId: string) => ['--workflow-id', `order:default:${orderId}`];
const screen = (orderId: string, email: string) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email) });
const attentionOf = ({ attention }: OrderReply): string[] =>
  attention.map(({ code }: { code: string }) => code);

async function inReview(): Promise<string> {
  const orderId = anOrderId();
  expect(await screen(orderId, 'review@example.com')).toMatchObject({ status: 200 });
  return orderId;
}

/** @returns how often the order's current workflow task was tried */
async function taskTries(orderId: string): Promise<number> {
  // The SDK's own `describe` fails at the encrypted memo.
  const order = await describeOrder(server, `order:default:${orderId}`);
  return order?.raw.pendingWorkflowTask?.attempt ?? 0;
}

const KINDS: [string, string[]][] = [
  ['protobuf as JSON', ['--input', '{}', '--input-meta', 'encoding=json/protobuf']],
  ['an unknown encoding', ['--input', '{}', '--input-meta', 'encoding=no/such-encoding']],
  [
    'ciphertext of an unknown key',
    [
      '--input',
      '"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"',
      '--input-meta',
      'encoding=binary/encrypted',
      '--input-meta',
      'encryption-key-id=other',
    ],
  ],
];

describe.each(KINDS)('%s', (_what, payload) => {
  it.each(['recheck', 'reviewHint'])('as the signal %s only causes a read, with attention', async (name) => {
    const orderId = await inReview();
    all.sandbox.control.decide(orderId, 'pass');
    await temporal('workflow', 'signal', ...idOf(orderId), '--name', name, ...payload);
    const order = await all.until(orderId, ({ decision }) => decision === 'pass');
    expect(attentionOf(order)).toEqual(['message-refused']);
    expect(await taskTries(orderId)).toBeLessThan(2);
  });

  it('as an update is refused', async () => {
    const orderId = await inReview();
    const update = temporal(
      'workflow',
      'update',
      'execute',
      ...idOf(orderId),
      '--name',
      'cancel',
      ...payload,
    );
    await expect(update).rejects.toThrow(/invalid-request/);
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction' })).toEqual([]);
    const order = (await all.call('GET', `/v1/orders/${orderId}`)).body;
    expect(order).toMatchObject({ phase: 'review', actions: [] });
  });

  it('as a start fails the workflow, and leaves the order id to the next one', async () => {
    const orderId = anOrderId();
    const type = ['--type', 'screenOrder', '--task-queue', 'order-screening'];
    await temporal('workflow', 'start', ...type, ...idOf(orderId), ...payload);
    await eventually(async () => {
      expect((await describeOrder(server, `order:default:${orderId}`))?.status).toBe('failed');
    });
    expect(await temporal('workflow', 'show', ...idOf(orderId), '--output', 'json')).toContain(
      'invalid-request',
    );
    expect(await screen(orderId, 'pass@example.com')).toMatchObject({
      status: 200,
      body: { decision: 'pass' },
    });
  });
});

it('broken JSON, which the command would not send, as a signal and a start', async () => {
  const { client, namespace } = server;
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"a') };
  const orderId = await inReview();
  all.sandbox.control.decide(orderId, 'pass');
  await client.workflowService.signalWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: `order:default:${orderId}` },
    signalName: 'recheck',
    input: { payloads: [payload] },
  });
  const order = await all.until(orderId, ({ decision }) => decision === 'pass');
  expect(order.attention).toMatchObject([
    {
      words: 'A signal could not be read, and caused only a read of the status: A payload is not valid JSON.',
    },
  ]);
  const started = anOrderId();
  await client.workflowService.startWorkflowExecution({
    namespace,
    workflowId: `order:default:${started}`,
    workflowType: { name: 'screenOrder' },
    taskQueue: { name: 'order-screening' },
    requestId: started,
    input: { payloads: [payload] },
  });
  expect(await screen(started, 'pass@example.com')).toMatchObject({
    status: 200,
    body: { decision: 'pass' },
  });
});
