import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createOrderDirectory } from '../../../src/activities/sweep/order-directory.ts';
import { LATE_AFTER_MS } from '../../../src/contract/sweep.ts';

const SINCE = '2026-03-02T10:00:00.000Z';
const TIME = msToTs(Date.parse(SINCE));
const NOW = Date.parse(SINCE) + LATE_AFTER_MS;
const { PendingActivityState } = proto.temporal.api.enums.v1;

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

/** The directory of a namespace in which every workflow is described so. */
function directoryOf(description: object) {
  const workflowService = { describeWorkflowExecution: async () => description };
  const client: Client = Object.assign(Object.create(null), {
    options: { namespace: 'default' },
    workflowService,
  });
  return createOrderDirectory(client);
}

/** A poll that is due then. */
const due = (at: number, state: keyof typeof PendingActivityState = 'PENDING_ACTIVITY_STATE_SCHEDULED') => ({
  activityType: { name: 'pollStatus' },
  state: PendingActivityState[state],
  scheduledTime: msToTs(at),
});
const paused = { ...due(NOW, 'PENDING_ACTIVITY_STATE_PAUSED'), paused: true, pauseInfo: { pauseTime: TIME } };
const pinned = { startTime: TIME, versioningInfo: { versioningOverride: { pinned: {} } } };

it.each([
  ['paused', 'an activity is paused', { pendingActivities: [due(NOW), paused] }],
  ['pinned', 'the order is pinned to a version', { workflowExecutionInfo: pinned }],
  ['late', 'no worker takes its poll', { pendingActivities: [due(NOW), due(NOW - LATE_AFTER_MS)] }],
  ['paused', 'its late poll is paused', { pendingActivities: [due(0), paused] }],
])('an order is held, with the reason %s, when %s', async (reason, _when, description) => {
  const task = await directoryOf(description).pendingTask('order:default:1');
  expect(task).toMatchObject({ held: { reason, since: SINCE } });
});

it.each([
  ['is due later', due(NOW + 60_000)],
  ['has been due for a moment', due(NOW - LATE_AFTER_MS + 1)],
  ['runs', due(0, 'PENDING_ACTIVITY_STATE_STARTED')],
])('an order without a pending task whose poll %s is neither held nor stuck', async (_what, poll) => {
  const versioningInfo = { versioningOverride: null };
  const description = { pendingActivities: [poll], workflowExecutionInfo: { versioningInfo } };
  expect(await directoryOf(description).pendingTask('order:default:1')).toBeUndefined();
});
