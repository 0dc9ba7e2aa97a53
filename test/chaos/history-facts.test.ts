import { expect, it } from 'vitest';
import { historyFacts } from './history-facts.ts';
import { START } from './made-up.ts';

type Event = Parameters<typeof historyFacts>[0][number][number];

/** Events of one run, each with its second after the order began. */
function run(...events: [second: number, attributes: Partial<Event>][]): Event[] {
  return events.map(([second, attributes], index) => {
    const at = START + second * 1_000;
    return {
      // The real ones are of a type for long whole numbers, which is read as a string.
      ...({ eventId: String(index + 1) } as object),
      eventTime: { seconds: Math.floor(at / 1_000), nanos: Math.round((at % 1_000) * 1e6) } as never,
      ...attributes,
    };
  });
}

const of = (value: unknown) => ({ payloads: [{ data: Buffer.from(JSON.stringify(value)) }] });
const id = (eventId: number) => eventId as never;
const taskStarted = { workflowTaskStartedEventAttributes: {} };
const taskCompleted = { workflowTaskCompletedEventAttributes: {} };
const scheduled = (name: string, input: unknown = {}) => ({
  activityTaskScheduledEventAttributes: { activityType: { name }, input: of(input) },
});
const started = (eventId: number, more: object = {}) => ({
  activityTaskStartedEventAttributes: { scheduledEventId: id(eventId), ...more },
});
const completed = (eventId: number, result: unknown) => ({
  activityTaskCompletedEventAttributes: { scheduledEventId: id(eventId), result: of(result) },
});
const seconds = (from: number, to: number) => ({ from: START + from * 1_000, to: START + to * 1_000 });

it('knows the last try of a poll, and the task that learned of its end', () => {
  const facts = historyFacts([
    run(
      [0, taskStarted],
      [1, taskCompleted],
      [1, scheduled('pollStatus')],
      [4, started(3, { attempt: 2, lastFailure: { timeoutFailureInfo: {} } })],
      [
        6,
        completed(3, {
          outcome: { kind: 'read', decision: 'fail' },
          began: 'x',
          at: '2026-03-01T10:00:05.000Z',
        }),
      ],
      [7, taskStarted],
      [8, taskCompleted],
    ),
  ]);
  expect(facts.tasks).toEqual([seconds(0, 1), seconds(7, 8)]);
  expect(facts.readsUnderWay).toEqual([
    { screens: false, scheduledAt: START + 1_000, lastTryAt: START + 4_000, endedAt: START + 6_000 },
  ]);
  expect(facts.recordedReads).toEqual([
    expect.objectContaining({
      ...seconds(4, 6),
      decision: 'fail',
      at: START + 5_000,
      task: 1,
      triedAgainAfterLoss: true,
    }),
  ]);
});

it('gives an end that came while a task ran to the next one', () => {
  const facts = historyFacts([
    run(
      [0, taskStarted],
      [0, taskCompleted],
      [0, scheduled('readStatusDurably')],
      [1, taskStarted],
      [2, taskCompleted],
      [1.2, started(3)],
      [1.5, completed(3, { outcome: { kind: 'read', decision: 'pass' } })],
      [2, taskStarted],
      [3, taskCompleted],
    ),
  ]);
  expect(facts.recordedReads[0]?.task).toBe(2);
});

it('knows a read inside a task, also one whose task was recorded in pieces', () => {
  const marker = {
    markerRecordedEventAttributes: {
      markerName: 'core_local_activity',
      details: {
        data: of({ activity_type: 'look' }),
        result: of({ outcome: { kind: 'read', decision: 'pass' }, began: '2026-03-01T10:00:01.000Z' }),
      },
    },
  };
  const facts = historyFacts([
    run([1, taskStarted], [9, taskCompleted], [9, taskStarted], [11, taskCompleted], [11, marker]),
  ]);
  expect(facts.recordedReads).toEqual([
    expect.objectContaining({ ...seconds(1, 11), decision: 'pass', task: 1 }),
  ]);
});

it('knows a task that was lost, but not one that nobody took in time', () => {
  const timedOut = (startedEventId: number) => ({
    workflowTaskTimedOutEventAttributes: { startedEventId: id(startedEventId) },
  });
  const facts = historyFacts([
    run([0, taskStarted], [10, timedOut(1)], [12, taskStarted], [13, taskCompleted], [18, timedOut(0)]),
  ]);
  expect(facts.lostTasks).toEqual([seconds(0, 12)]);
});

it('knows what was asked at the portal, what the gateway said, and the task in which the order was over', () => {
  const facts = historyFacts([
    run(
      [0, taskStarted],
      [1, taskCompleted],
      [
        1,
        {
          workflowExecutionUpdateAcceptedEventAttributes: {
            acceptedRequest: {
              input: { name: 'recordGatewayResult', args: of({ attempt: 1, result: 'fail' }) },
            },
          },
        },
      ],
      [1, scheduled('performPortalAction', { fields: { kind: 'cancel' }, transactionId: 't' })],
      [2, started(4)],
      [3, completed(4, { outcome: { kind: 'done' }, at: 'x' })],
      [3, taskStarted],
      [4, taskCompleted],
      [
        4,
        {
          upsertWorkflowSearchAttributesEventAttributes: {
            searchAttributes: { indexedFields: { ScreeningPhase: { data: Buffer.from('"canceled"') } } },
          },
        },
      ],
    ),
  ]);
  expect(facts.gatewayResults).toEqual([{ attempt: 1, result: 'fail', task: 0, at: START }]);
  expect(facts.portalTries).toEqual([
    {
      kind: 'cancel',
      transactionId: 't',
      task: 0,
      scheduledAt: START + 1_000,
      lastTryAt: START + 2_000,
      endedAt: START + 3_000,
      outcome: 'done',
    },
  ]);
  expect(facts.overInTask).toBe(1);
});

it('knows the timers that were begun for what was due already', () => {
  const timer = (nanos: number) => ({
    timerStartedEventAttributes: { startToFireTimeout: { seconds: 0 as never, nanos } },
  });
  const facts = historyFacts([run([0, taskStarted], [1, taskCompleted], [1, timer(1e6)], [2, timer(2e6)])]);
  expect(facts.overdueTimers).toEqual([START + 1_000]);
});

it('reads the runs of an order that continued as new as one', () => {
  const life = run([0, taskStarted], [1, taskCompleted], [1, scheduled('pollStatus')]);
  expect(historyFacts([life, life])).toMatchObject({ tasks: [{}, {}], readsUnderWay: [{}, {}] });
});
