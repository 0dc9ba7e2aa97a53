import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { createOrderDirectory } from '../../../src/activities/sweep/order-directory.ts';

const SINCE = '2026-03-02T10:00:00.000Z';
const TIME = { seconds: Date.parse(SINCE) / 1_000, nanos: 0 };

/** The directory of a namespace in which every workflow is described so. */
function directoryOf(description: object) {
  const workflowService = { describeWorkflowExecution: async () => description };
  const client: Client = Object.assign(Object.create(null), {
    options: { namespace: 'default' },
    workflowService,
  });
  return createOrderDirectory(client);
}

it.each([
  [
    'an activity is paused',
    { pendingActivities: [{ paused: true, pauseInfo: { pauseTime: TIME } }, { paused: false }] },
  ],
  [
    'the order is pinned to a version',
    { workflowExecutionInfo: { startTime: TIME, versioningInfo: { versioningOverride: { pinned: {} } } } },
  ],
])('an order is held by an operator when %s', async (_what, description) => {
  expect(await directoryOf(description).pendingTask('order:default:1')).toMatchObject({ heldSince: SINCE });
});

it('an order without a pending task that nobody holds is not told of', async () => {
  const versioningInfo = { versioningOverride: null };
  const description = { pendingActivities: [{ paused: false }], workflowExecutionInfo: { versioningInfo } };
  expect(await directoryOf(description).pendingTask('order:default:1')).toBeUndefined();
});
