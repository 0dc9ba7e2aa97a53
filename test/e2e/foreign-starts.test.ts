/** Orders that an operator or another tool starts, past the library and HTTP. */
import { WithStartWorkflowOperation } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TASK_QUEUE } from '../../src/contract/ids.ts';
import { decisionUpdate, recheckSignal, SCREEN_ORDER } from '../../src/contract/messages.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';
import { temporalCli } from './temporal-cli.ts';

const server = withTestServer();
const temporal = temporalCli(server);
let all: Deployment;

beforeAll(async () => {
  all = await deploy(server.address, { default: {} });
});
afterAll(() => all?.stop());

const start = (orderId: string, input: unknown, ...more: string[]) => {
  const id = [
    '--workflow-id',
    `order:default:${orderId}`,
    '--task-queue',
    TASK_QUEUE,
    '--type',
    SCREEN_ORDER,
  ];
  return temporal('workflow', 'start', ...id, '--input', JSON.stringify(input), ...more);
};
const screen = (orderId: string, email: string) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email) });
const created = (orderId: string) => all.sandbox.control.transactions(orderId).length;

async function failureOf(orderId: string): Promise<unknown> {
  const handle = server.client.workflow.getHandle(`order:default:${orderId}`);
  return handle.result().catch((error: unknown) => (error instanceof Error ? error.cause : error));
}

describe.each([
  ['--run-timeout', 'runTimeout'],
  ['--execution-timeout', 'executionTimeout'],
])('a start with %s', (option, path) => {
  it('is refused at once, and leaves the order id to a start without', async () => {
    const orderId = anOrderId();
    await start(orderId, { orderId, transaction: withEmail('pass@example.com') }, option, '1h');
    expect(await failureOf(orderId)).toMatchObject({
      type: 'invalid-request',
      details: [
        { errors: expect.arrayContaining([{ path, message: expect.stringContaining('must not be set') }]) },
      ],
    });
    expect(created(orderId)).toBe(0);
    expect(await screen(orderId, 'pass@example.com')).toMatchObject({ status: 200 });
    expect(created(orderId)).toBe(1);
  });
});

describe('a start whose input does not parse', () => {
  it.each([
    ['nothing', null],
    ['a word', 'order'],
    ['no transaction', { orderId: 'x' }],
  ])('such as %s is refused, and leaves the order id to the next one', async (_what, input) => {
    const orderId = anOrderId();
    await start(orderId, input);
    expect(await failureOf(orderId)).toMatchObject({
      type: 'invalid-request',
      details: [
        { errors: expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]) },
      ],
    });
    const transaction = withEmail('pass@example.com');
    expect(await screen(orderId, 'pass@example.com')).toMatchObject({ status: 200 });
    // The same again gets the order's answer.
    const again = await all.call('POST', `/v1/orders/${orderId}/screening`, { transaction });
    expect(again).toMatchObject({ status: 200, body: { decision: 'pass' } });
    expect(created(orderId)).toBe(1);
  });

  it('refuses the update that came with it, with the code and the paths', async () => {
    const orderId = anOrderId();
    const startWorkflowOperation = new WithStartWorkflowOperation(SCREEN_ORDER, {
      workflowId: `order:default:${orderId}`,
      taskQueue: TASK_QUEUE,
      args: [{ orderId }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    const asked = server.client.workflow.executeUpdateWithStart(decisionUpdate, {
      args: [{ attempt: 1 }],
      startWorkflowOperation,
    });
    await expect(asked).rejects.toMatchObject({
      cause: {
        type: 'invalid-request',
        details: [
          { errors: [{ path: 'transaction', message: 'is missing, or of the wrong type or length' }] },
        ],
      },
    });
  });
});

describe('an order that was started without a fingerprint', () => {
  it('gives its answer to the same content, and to no other', async () => {
    const orderId = anOrderId();
    await start(orderId, { orderId, transaction: withEmail('pass@example.com') });
    await eventually(async () =>
      expect((await all.call('GET', `/v1/orders/${orderId}`)).body.decision).toBe('pass'),
    );
    const changed = await screen(orderId, 'fail@example.com');
    expect([changed.status, changed.body.type]).toEqual([409, '/problems/attempt-mismatch']);
    expect(await screen(orderId, 'pass@example.com')).toMatchObject({
      status: 200,
      body: { decision: 'pass' },
    });
    expect(created(orderId)).toBe(1);
  });
});

it('a signal that comes before the first task is no sign of a lost one: the transaction is created at once', async () => {
  const orderId = anOrderId();
  await server.client.workflow.signalWithStart(SCREEN_ORDER, {
    workflowId: `order:default:${orderId}`,
    taskQueue: TASK_QUEUE,
    args: [{ orderId, transaction: withEmail('pass@example.com') }],
    signal: recheckSignal,
    signalArgs: [],
  });
  await all.until(orderId, ({ decision }) => decision === 'pass');
  const [first] = all.sandbox.control.ledger({ invoice: orderId });
  expect(first).toMatchObject({ operation: 'create-transaction' });
});
