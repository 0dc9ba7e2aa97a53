import { expect, it } from 'vitest';
import { billedActions, type CountedEvent } from '../../bench/measure/actions.ts';

const start: CountedEvent = { eventId: 1, workflowExecutionStartedEventAttributes: {} };
const scheduled = (eventId: number): CountedEvent => ({ eventId, activityTaskScheduledEventAttributes: {} });
const started = (scheduledEventId: number, attempt: number): CountedEvent => ({
  activityTaskStartedEventAttributes: { scheduledEventId, attempt },
});
const local = (task: number): CountedEvent => ({
  markerRecordedEventAttributes: { markerName: 'core_local_activity', workflowTaskCompletedEventId: task },
});

it('bills a start, a timer, an upsert, a signal and an update once each', () => {
  const each: CountedEvent[] = [
    { timerStartedEventAttributes: {} },
    { upsertWorkflowSearchAttributesEventAttributes: {} },
    { workflowExecutionSignaledEventAttributes: {} },
    { workflowExecutionUpdateAcceptedEventAttributes: {} },
  ];
  expect(billedActions([start, ...each])).toBe(5);
});

it('bills every try of an activity', () => {
  expect(billedActions([start, scheduled(5), started(5, 3)])).toBe(4);
});

it('bills all local activities of a workflow task together', () => {
  expect(billedActions([start, local(4), local(4), local(9)])).toBe(3);
});

it('bills the tries of an activity that was canceled between two of them, which the history does not tell', () => {
  expect(billedActions([start, scheduled(5)])).toBe(2);
  expect(billedActions([start, scheduled(5)], 1_001)).toBe(1_002);
});

it('bills nothing for workflow tasks and ends', () => {
  expect(billedActions([{ eventId: 2 }, { eventId: 3 }])).toBe(0);
});
