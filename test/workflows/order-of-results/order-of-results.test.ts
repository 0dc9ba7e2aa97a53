/** Results of one task are applied in the order of history: a replay may join the task of one with the task of the next. */
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';

const workflowsPath = join(import.meta.dirname, 'order-of-results.workflow.ts');
const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });

type Event = Record<string, unknown>;
const payload = (value: unknown) => {
  const { metadata, data } = defaultPayloadConverter.toPayload(value) ?? {};
  const encoding = Buffer.from(metadata?.encoding ?? []).toString('base64');
  return { payloads: [{ metadata: { encoding }, data: Buffer.from(data ?? []).toString('base64') }] };
};
const taskQueue = { name: 'q' };
const AT = '2026-03-01T10:00:10Z';

/** The calls start in this order: a delivery that completes, a timer, a delivery that fails. */
const CALLS = [
  { kind: 'deliver', request: [] },
  { kind: 'timer', at: '2026-03-01T10:00:05.000Z', summary: 'a timer' },
  { kind: 'deliver', request: [] },
];
const STARTED: Event[] = [
  { activityTaskScheduledEventAttributes: { activityId: '1', activityType: { name: 'deliverEvents' } } },
  { timerStartedEventAttributes: { timerId: '1', startToFireTimeout: '5s' } },
  { activityTaskScheduledEventAttributes: { activityId: '2', activityType: { name: 'deliverEvents' } } },
  { activityTaskStartedEventAttributes: { scheduledEventId: '5' } },
  { activityTaskStartedEventAttributes: { scheduledEventId: '7' } },
];
const RESULT = { began: '2026-03-01T10:00:01.000Z', at: '2026-03-01T10:00:02.000Z', kind: 'done' };
const TO_COME = { ...RESULT, at: '2999-01-01T00:00:00.000Z' };
const endedBy = (result: unknown): Event[] => [
  {
    activityTaskCompletedEventAttributes: {
      result: payload(result),
      scheduledEventId: '5',
      startedEventId: '8',
    },
  },
  { timerFiredEventAttributes: { timerId: '1', startedEventId: '6' } },
  {
    activityTaskFailedEventAttributes: {
      failure: { message: 'failed', applicationFailureInfo: { type: 'x' } },
      scheduledEventId: '7',
      startedEventId: '9',
      retryState: 'RETRY_STATE_NON_RETRYABLE_FAILURE',
    },
  },
];

function historyOf(ended: readonly number[], result: unknown) {
  const ends = endedBy(result);
  const task = (scheduledEventId: string): Event[] => [
    { workflowTaskScheduledEventAttributes: { taskQueue } },
    { workflowTaskStartedEventAttributes: { scheduledEventId } },
  ];
  const flags = { coreUsedFlags: [1, 2, 3], langUsedFlags: [1, 2, 3, 4, 5] };
  const started = { workflowType: { name: 'orderOfResults' }, taskQueue, input: payload(CALLS) };
  const run = { originalExecutionRunId: 'run', workflowTaskTimeout: '10s', attempt: 1, workflowId: 'w' };
  const events: Event[] = [
    { workflowExecutionStartedEventAttributes: { ...started, ...run } },
    ...task('2'),
    { workflowTaskCompletedEventAttributes: { scheduledEventId: '2', sdkMetadata: flags } },
    ...STARTED,
    ...ended.map((index) => ends[index] ?? {}),
    ...task('13'),
    { workflowTaskCompletedEventAttributes: { scheduledEventId: '13', startedEventId: '14' } },
  ];
  return {
    events: events.map((event, index) => {
      const [attributes = ''] = Object.keys(event);
      const eventType = `EVENT_TYPE_${attributes.replace('EventAttributes', '').replace(/[A-Z]/g, '_$&').toUpperCase()}`;
      return { eventId: String(index + 1), eventTime: AT, eventType, ...event };
    }),
  };
}

/** What the calls end with. */
const ENDS = ['0 completed', '1 completed', '2 failed'];

it.each([[[0, 1, 2]], [[1, 0, 2]], [[2, 1, 0]], [[1, 2, 0]], [[0, 2, 1]]])(
  'of history, whether activities or timers ended: %s',
  async (ended) => {
    const replayed = Worker.runReplayHistory({ workflowBundle }, historyOf(ended, RESULT), 'w');
    const message = ended.map((index) => ENDS[index]).join();
    await expect(replayed).rejects.toThrow(`message: "${message}"`);
  },
);

it.each(['done', null, TO_COME])('an activity that a person completes with %j has failed', async (result) => {
  const replayed = Worker.runReplayHistory({ workflowBundle }, historyOf([0, 1, 2], result), 'w');
  await expect(replayed).rejects.toThrow('message: "0 failed by hand,1 completed,2 failed"');
});
