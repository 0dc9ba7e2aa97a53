/**
 * Counts what Temporal Cloud bills for an order ("Actions", docs.temporal.io/cloud/actions): a start, a timer, an upsert of
 * search attributes, a signal, an update, each try of an activity, and once for all local activities of a workflow task.
 */

/** The part of a history event that matters here. */
export interface CountedEvent {
  eventId?: number | { toString(): string } | null;
  workflowExecutionStartedEventAttributes?: object | null;
  timerStartedEventAttributes?: object | null;
  upsertWorkflowSearchAttributesEventAttributes?: object | null;
  workflowExecutionSignaledEventAttributes?: object | null;
  workflowExecutionUpdateAcceptedEventAttributes?: object | null;
  activityTaskScheduledEventAttributes?: object | null;
  activityTaskStartedEventAttributes?: {
    attempt?: number | null;
    scheduledEventId?: number | { toString(): string } | null;
  } | null;
  markerRecordedEventAttributes?: {
    markerName?: string | null;
    workflowTaskCompletedEventId?: number | { toString(): string } | null;
  } | null;
}

const ONE_EACH = [
  'workflowExecutionStartedEventAttributes',
  'timerStartedEventAttributes',
  'upsertWorkflowSearchAttributesEventAttributes',
  'workflowExecutionSignaledEventAttributes',
  'workflowExecutionUpdateAcceptedEventAttributes',
] as const;

/**
 * @param unrecordedTries of activities that were canceled between two tries: the history doesn't hold their number
 * @returns billed actions; queries, refused updates and reads of the visibility store aren't in a history
 */
export function billedActions(events: readonly CountedEvent[], unrecordedTries = 0): number {
  const each = events.filter((event) => ONE_EACH.some((key) => event[key])).length;
  const started = new Set<string>();
  const localTasks = new Set<string>();
  let tries = 0;
  for (const { activityTaskStartedEventAttributes: start, markerRecordedEventAttributes: marker } of events) {
    if (start) {
      tries += start.attempt ?? 1;
      started.add(String(start.scheduledEventId));
    }
    if (marker?.markerName === 'core_local_activity') {
      localTasks.add(String(marker.workflowTaskCompletedEventId));
    }
  }
  const unstarted = events.filter(
    (event) => event.activityTaskScheduledEventAttributes && !started.has(String(event.eventId)),
  ).length;
  return each + tries + localTasks.size + Math.max(unstarted, unrecordedTries);
}
