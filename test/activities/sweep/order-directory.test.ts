import { WorkflowFailedError } from '@temporalio/client';
import {
  ApplicationFailure,
  defaultPayloadConverter,
  mapToPayloads,
  TerminatedFailure,
} from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOrderDirectory } from '../../../src/activities/sweep/order-directory.ts';
import { PayloadCodecError } from '../../../src/codec/payload-codec.ts';
import { LATE_AFTER_MS, LOST_STATUSES } from '../../../src/contract/sweep.ts';
import { instant } from '../../../src/contract/words.ts';
import { aClientOver, attributes, STATUSES } from '../../client/fake-temporal.ts';

const SINCE = '2026-03-02T10:00:00.000Z';
const TIME = msToTs(Date.parse(SINCE));
const NOW = Date.parse(SINCE) + LATE_AFTER_MS;
const { PendingActivityState } = proto.temporal.api.enums.v1;

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

/** The directory of a namespace in which every workflow, or the run of that id, is described so, and each list has these rows. */
function directoryOf(
  description: object,
  rows: object[] | ((query: string) => object[]) = [],
  runs: Record<string, object> = {},
  failures: Record<string, unknown> = {},
) {
  const asked: string[] = [];
  const described: string[] = [];
  const workflowService = {
    describeWorkflowExecution: async ({
      execution,
    }: {
      execution: { workflowId: string; runId?: string };
    }) => {
      described.push(execution.workflowId);
      return runs[execution.runId ?? execution.workflowId] ?? description;
    },
    listWorkflowExecutions: async (page: { query: string; pageSize: number; nextPageToken?: Uint8Array }) => {
      asked.push(page.query);
      const all = typeof rows === 'function' ? rows(page.query) : rows;
      const [from = 0] = page.nextPageToken ?? [];
      const to = from + page.pageSize;
      const nextPageToken = Uint8Array.from(to < all.length ? [to] : []);
      return { executions: all.slice(from, to), nextPageToken };
    },
  };
  const getHandle = (_workflowId: string, runId: string) => ({
    result: () => Promise.reject(failures[runId]),
  });
  const client = aClientOver(workflowService, { workflow: { getHandle } });
  return { ...createOrderDirectory(client), asked, described };
}

/** A poll that is due then. */
const due = (at: number, state: keyof typeof PendingActivityState = 'PENDING_ACTIVITY_STATE_SCHEDULED') => ({
  activityType: { name: 'pollStatus' },
  state: PendingActivityState[state],
  scheduledTime: msToTs(at),
});
/** A read that waits for its next try, after tries without an answer since then, the last of which ended at that time. */
const unanswered = (since: number, lastAt = NOW) => ({
  ...due(NOW + 60_000),
  lastAttemptCompleteTime: msToTs(lastAt),
  heartbeatDetails: { payloads: [defaultPayloadConverter.toPayload({ unansweredSince: instant(since) })] },
});
const paused = { ...due(NOW, 'PENDING_ACTIVITY_STATE_PAUSED'), paused: true, pauseInfo: { pauseTime: TIME } };
const pinned = { startTime: TIME, versioningInfo: { versioningOverride: { pinned: {} } } };

it.each([
  ['paused', 'an activity is paused', { pendingActivities: [due(NOW), paused] }],
  ['pinned', 'the order is pinned to a version', { workflowExecutionInfo: pinned }],
  ['late', 'no worker takes its poll', { pendingActivities: [due(NOW), due(NOW - LATE_AFTER_MS)] }],
  ['unanswered', 'its reads get no answer', { pendingActivities: [unanswered(NOW - LATE_AFTER_MS)] }],
  ['paused', 'its late poll is paused', { pendingActivities: [due(0), paused] }],
])('an order is held, with the reason %s, when %s', async (reason, _when, description) => {
  const task = await directoryOf(description).pendingTask('order:default:1');
  expect(task).toMatchObject({ held: { reason, since: SINCE } });
});

it.each([
  ['is due later', due(NOW + 60_000)],
  ['has been due for a moment', due(NOW - LATE_AFTER_MS + 1)],
  ['has got no answer for a moment', unanswered(NOW - LATE_AFTER_MS + 1)],
  [
    'got no answer once, and is not made again yet',
    unanswered(NOW - 2 * LATE_AFTER_MS, NOW - 2 * LATE_AFTER_MS),
  ],
  ['told nothing that can be read', { ...due(NOW), heartbeatDetails: { payloads: [{ data: null }] } }],
  ['runs', due(0, 'PENDING_ACTIVITY_STATE_STARTED')],
])('an order without a pending task whose poll %s is neither held nor stuck', async (_what, poll) => {
  const versioningInfo = { versioningOverride: null };
  const description = { pendingActivities: [poll], workflowExecutionInfo: { versioningInfo } };
  expect(await directoryOf(description).pendingTask('order:default:1')).toBeUndefined();
});

const failed = (type: string) =>
  new WorkflowFailedError('failed', ApplicationFailure.create({ type }), 'NON_RETRYABLE_FAILURE');
const terminated = new WorkflowFailedError(
  'terminated',
  new TerminatedFailure('terminated'),
  'MAXIMUM_ATTEMPTS_REACHED',
);
it.each([
  ['a run was refused', [failed('refused-by-screening-service')], false],
  ['no run has ended', [], false],
  ['a run had no answer', [failed('refused-by-screening-service'), failed('outcome-unknown')], true],
  ['a run failed otherwise', [failed('no code of ours')], true],
  ['a run was terminated', [terminated], true],
])('an action may have been done before when %s', async (_when, failures, expected) => {
  const rows = failures.map((_failure, index) => ({ execution: { runId: `${index}` } }));
  const { isInDoubt, asked } = directoryOf({}, rows, {}, { ...failures });
  expect(await isInDoubt('portal:1')).toBe(expected);
  const statuses = "ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed', 'Canceled')";
  expect(asked).toEqual([`WorkflowId = 'portal:1' AND ${statuses}`]);
});

it('whether an action may have been done stays open while the end of a run can’t be read', async () => {
  const unread = new PayloadCodecError('unknown-payload-key', 'k2');
  const { isInDoubt } = directoryOf({}, [{ execution: { runId: '0' } }], {}, { 0: unread });
  await expect(isInDoubt('portal:1')).rejects.toMatchObject({ code: 'record-unreadable' });
});

it('an order that has ended is neither held nor stuck, though it is still pinned', async () => {
  const workflowExecutionInfo = { ...pinned, status: 2, closeTime: TIME };
  expect(await directoryOf({ workflowExecutionInfo }).pendingTask('order:default:1')).toBeUndefined();
});

it('a declined order isn’t overdue: the policy’s retryWithin may be longer than its window', async () => {
  const directory = directoryOf({});
  await directory.overdue(10);
  expect(directory.asked).toEqual([expect.stringContaining("IN ('decided', 'awaiting-gateway')")]);
});

describe('an order that ended without a record', () => {
  const RUN = { workflowId: 'order:default:1', runId: 'the-newest' };
  const newest = { workflowExecutionInfo: { execution: RUN } };
  const LATER = '2026-03-04T00:00:00.000Z';
  const { RUNNING, FAILED, CANCELED, TERMINATED, TIMED_OUT } = STATUSES;
  const CODES = { Failed: FAILED, Canceled: CANCELED, Terminated: TERMINATED, TimedOut: TIMED_OUT };
  const row = (status: keyof typeof CODES, values: Record<string, unknown>) => ({
    execution: RUN,
    status: CODES[status],
    closeTime: TIME,
    ...attributes(values),
  });
  const lostOf = (...rows: object[]) => directoryOf(newest, rows).lost(10);

  it.each(LOST_STATUSES)('is counted as %s inside its window, and not after it', async (status) => {
    const lost = [{ ...RUN, status, since: SINCE }];
    for (const ScreeningPhase of ['decided', 'review', 'awaiting-gateway', 'declined']) {
      expect(await lostOf(row(status, { ScreeningPhase, CancelBy: LATER }))).toEqual(lost);
      expect(await lostOf(row(status, { ScreeningPhase, CancelBy: SINCE }))).toEqual([]);
    }
    // It has nothing left to do.
    expect(await lostOf(row(status, { ScreeningPhase: 'canceled', CancelBy: LATER }))).toEqual([]);
    // A later run goes on in its place.
    const other = { workflowExecutionInfo: { execution: { ...RUN, runId: 'another' } } };
    expect(await directoryOf(other, [row(status, { CancelBy: LATER })]).lost(10)).toEqual([]);
  });

  it.each(LOST_STATUSES)(
    'before its first answer is counted as %s, unless its start was refused',
    async (status) => {
      const found = await lostOf(row(status, {}), row(status, { ScreeningPhase: 'screening' }));
      expect(found.map((one) => one.status)).toEqual(status === 'Failed' ? [] : [status, status]);
    },
  );

  it.each(LOST_STATUSES)(
    'as %s is lost to a run that is started again, unless its start was refused',
    async (status) => {
      const endedWith = (values: Record<string, unknown>) => {
        const workflowExecutionInfo = row(status, values);
        // The list still shows a refused start between the two as running.
        const refused = { ...row('Failed', {}), execution: { ...RUN, runId: 'refused' } };
        const rows = [{ ...refused, status: RUNNING }, workflowExecutionInfo];
        const listed = (query: string) => (query.includes("= 'Completed'") ? [] : rows);
        const runs = { refused: { workflowExecutionInfo: refused } };
        return directoryOf({ workflowExecutionInfo }, listed, runs).ended({ ...RUN, runId: 'again' });
      };
      expect(await endedWith({ CancelBy: LATER })).toBe('lost');
      expect(await endedWith({})).toBe(status === 'Failed' ? undefined : 'lost');
    },
  );

  it('is counted until a later run goes on in its place, which a refused start does not', async () => {
    const execution = { ...RUN, runId: 'refused' };
    const refused = { workflowExecutionInfo: { execution, status: FAILED, closeTime: TIME } };
    const lost = row('Terminated', { ScreeningPhase: 'review', CancelBy: LATER });
    const runs: Record<string, object> = { [RUN.runId]: newest };
    const directory = directoryOf(refused, [lost], runs);
    expect(await directory.lost(10)).toMatchObject([RUN]);
    // While it was not refused yet, it may have gone on in its place.
    const notYet = { workflowExecutionInfo: { execution, status: RUNNING } };
    runs[RUN.workflowId] = notYet;
    expect(await directory.lost(10)).toEqual([]);
    delete runs[RUN.workflowId];
    expect(await directory.lost(10)).toMatchObject([RUN]);
  });

  it('is found behind pages of runs that later ones have replaced, each of which is described once', async () => {
    const at = (workflowId: string, runId: string) => {
      const ended = row('Terminated', { ScreeningPhase: 'review', CancelBy: LATER });
      return { ...ended, execution: { workflowId, runId } };
    };
    const repaired = Array.from({ length: 25 }, (_, index) => at(RUN.workflowId, `${index}`));
    const lost = at('order:default:2', 'lost');
    const { execution } = lost;
    const found = { [execution.workflowId]: { workflowExecutionInfo: { execution } } };
    const { searchAttributes } = row('Terminated', { CancelBy: LATER });
    const after = { workflowExecutionInfo: { execution: RUN, searchAttributes } };
    const directory = directoryOf(after, [...repaired, lost], found);
    for (const _sweep of [1, 2]) expect(await directory.lost(10)).toMatchObject([execution]);
    expect(directory.described.filter((id) => id === RUN.workflowId)).toHaveLength(repaired.length);
  });

  it('is counted until a different order has its newest transaction, or that is canceled', async () => {
    const lost = row('Terminated', { ScreeningPhase: 'review', CancelBy: LATER, TransactionId: ['a', 'b'] });
    const owner = (workflowId: string, ...TransactionId: string[]) => ({
      execution: { workflowId },
      searchAttributes: { indexedFields: mapToPayloads(defaultPayloadConverter, { TransactionId }) },
    });
    const lostBeside = (owners: object[], cancels: Record<string, object> = {}) => {
      const rows = (query: string) => (query.includes('TransactionId') ? owners : [lost]);
      const { lost: find, asked } = directoryOf(newest, rows, cancels);
      return find(10).then((found) => ({ found, asked }));
    };
    const { found, asked } = await lostBeside([owner('order:default:2', 'b')]);
    expect(found).toEqual([]);
    expect(asked[1]).toMatch(
      /TransactionId = 'b'.* AND ExecutionStatus IN \('Running', 'ContinuedAsNew', 'Completed'\)$/,
    );
    for (const owners of [[], [owner(RUN.workflowId, 'a', 'b')], [owner('order:default:2', 'a')]])
      expect((await lostBeside(owners)).found).toMatchObject([RUN]);
    const canceledAs = (status: number) => {
      const cancel = { workflowExecutionInfo: { execution: RUN, status, closeTime: TIME } };
      return lostBeside([], { 'portal:default:cancel:b': cancel });
    };
    expect((await canceledAs(STATUSES.COMPLETED)).found).toEqual([]);
    expect((await canceledAs(FAILED)).found).toMatchObject([RUN]);
  });

  it('is looked for in its window, or in the first five days without one', async () => {
    const directory = directoryOf(newest);
    await directory.lost(10);
    const statuses = "'Terminated', 'TimedOut', 'Failed', 'Canceled'";
    const now = instant(NOW);
    const fiveDaysAgo = instant(NOW - 5 * 24 * 3_600_000);
    expect(directory.asked).toEqual([
      `WorkflowType = 'screenOrder' AND ExecutionStatus IN (${statuses}) AND (CancelBy > '${now}' OR StartTime > '${fiveDaysAgo}') AND (ExecutionStatus != 'Failed' OR CancelBy IS NOT NULL)`,
    ]);
  });
});
