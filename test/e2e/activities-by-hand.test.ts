/** What an operator does to an order's activities by the `temporal` command, on a real server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';
import { temporalCli } from './temporal-cli.ts';

const server = withTestServer();
const temporal = temporalCli(server);
let all: Deployment;

beforeAll(async () => {
  all = await deploy(server.address, { default: { events: 'all' } }, { webhooks: false });
});
afterAll(() => all?.stop());

const idOf = (orderId: string) => ['--workflow-id', `order:default:${orderId}`];
const describeOrder = async (orderId: string) =>
  (await server.client.workflow.getHandle(`order:default:${orderId}`).describe()).raw;

async function underWay(orderId: string, type: string): Promise<string> {
  return eventually(async () => {
    const { pendingActivities } = await describeOrder(orderId);
    const found = pendingActivities?.find(({ activityType }) => activityType?.name === type);
    if (!found?.activityId) throw new Error(`no ${type} is under way`);
    return found.activityId;
  });
}

async function inReview(): Promise<string> {
  const orderId = anOrderId();
  const body = { transaction: withEmail('review@example.com') };
  expect((await all.call('POST', `/v1/orders/${orderId}/screening`, body)).status).toBe(200);
  return orderId;
}

/** The order waits to poll again, its workflow task has not failed, and it still takes what it is asked. */
async function expectItGoesOn(orderId: string): Promise<void> {
  await eventually(async () => {
    const { pendingActivities, pendingWorkflowTask } = await describeOrder(orderId);
    expect(pendingActivities ?? []).toEqual([]);
    expect(pendingWorkflowTask ?? null).toBeNull();
  });
  const shown = await temporal('workflow', 'show', ...idOf(orderId), '--output', 'json');
  expect(shown).not.toContain('WORKFLOW_TASK_FAILED');
  expect((await all.call('GET', `/v1/orders/${orderId}`)).body).toMatchObject({
    phase: 'review',
    attention: [],
  });
  all.sandbox.control.decide(orderId, 'pass');
  await temporal('workflow', 'signal', ...idOf(orderId), '--name', 'recheck');
  await all.until(orderId, ({ decision }) => decision === 'pass');
}

it.each(['"pass"', 'null', '{}', '[1]', '{"outcome":{"kind":"read","decision":"pass"}}'])(
  'a poll that is completed with %s counts as a failed try',
  async (result) => {
    const orderId = await inReview();
    const activityId = await underWay(orderId, 'pollStatus');
    await temporal('activity', 'complete', ...idOf(orderId), '--activity-id', activityId, '--result', result);
    await expectItGoesOn(orderId);
  },
);

it('events whose delivery is completed or failed are kept, without attention', async () => {
  // The command fails only what a worker is at work on.
  all.refuseEvents('late');
  for (const how of [
    ['complete', '--result', '"done"'],
    ['fail', '--reason', 'by hand'],
  ] as const) {
    const orderId = await inReview();
    const activityId = await underWay(orderId, 'deliverEvents');
    const [verb, ...more] = how;
    await temporal('activity', verb, ...idOf(orderId), '--activity-id', activityId, ...more);
    await eventually(async () => {
      const { pendingActivities } = await describeOrder(orderId);
      const types = (pendingActivities ?? []).map(({ activityType }) => activityType?.name);
      expect(types).toEqual(['pollStatus']);
    });
    const { body } = await all.call('GET', `/v1/orders/${orderId}`);
    expect(body).toMatchObject({ attention: [], events: { waiting: 1, delivered: 0 } });
  }
  all.refuseEvents(false);
});
