/** Asks Temporal's server whether workers and the sweep are running. Makes no visibility call. */
import type { Client } from '@temporalio/client';
import { POLLED_QUEUES, TASK_QUEUE_TYPE } from '../contract/ids.ts';
import { SWEEP_ID } from '../contract/sweep.ts';
import { millis } from '../contract/words.ts';
import { defined } from '../order/defined.ts';
import { describeOrder, instantOf, msOf } from './reading/describe-order.ts';
import { callTemporal, endingBy } from './temporal-errors.ts';
import type { ClientContext, Health } from './types.ts';

/** A poll lasts a minute, so a running worker has polled within this time. */
const POLLED_WITHIN_MS = 90_000;
const WITHIN_MS = 2_000;

type Queue = (typeof POLLED_QUEUES)[number];
type Build = { deploymentName?: string | null; buildId?: string | null } | null | undefined;

/** Returns a build with its deployment; an empty text for an unversioned worker. */
export const buildOf = (build: Build): string =>
  build?.deploymentName ? `${build.deploymentName}.${build.buildId}` : '';

/** Returns the build of each worker that polled a task queue within a time, and the current one, which gets the queue's tasks. */
export async function buildsPolling(
  { workflowService }: Pick<Client, 'workflowService'>,
  namespace: string,
  { name, type }: Queue,
  withinMs: number,
): Promise<{ polling: string[]; current: string }> {
  const taskQueueType = TASK_QUEUE_TYPE[type];
  const request = { namespace, taskQueue: { name }, taskQueueType };
  const { pollers, versioningInfo } = await workflowService.describeTaskQueue(request);
  const since = Date.now() - withinMs;
  const recent = pollers.filter(({ lastAccessTime }) => (msOf(lastAccessTime) ?? 0) >= since);
  return {
    polling: recent.map(({ deploymentOptions }) => buildOf(deploymentOptions)),
    current: buildOf(versioningInfo?.currentDeploymentVersion),
  };
}

/** Returns how many workers poll a task queue and get its tasks: those of the current build, or unversioned ones without one. */
export async function countPollers(client: Client, queue: Queue): Promise<number> {
  const { polling, current } = await buildsPolling(client, client.options.namespace, queue, POLLED_WITHIN_MS);
  return polling.filter((build) => build === current).length;
}

export async function readHealth({ client }: ClientContext): Promise<Health> {
  const polled = POLLED_QUEUES.map(async (queue) => {
    const pollers = await callTemporal(client, WITHIN_MS, () => countPollers(client, queue));
    return pollers > 0 ? [] : [queue.name];
  });
  const [unpolled, sweep] = await Promise.all([Promise.all(polled), readSweep({ client })]);
  return { unpolled: [...new Set(unpolled.flat())], sweep };
}

/** The sweep is one activity that runs for a day. */
export async function readSweep({ client }: Pick<ClientContext, 'client'>): Promise<Health['sweep']> {
  const sweep = await endingBy(Date.now() + WITHIN_MS, () => describeOrder({ client }, SWEEP_ID));
  if (sweep?.status !== 'open') return { status: 'stopped' };
  const { pendingActivities, pendingWorkflowTask } = sweep.raw;
  const [activity] = pendingActivities ?? [];
  const since = instantOf(activity?.lastStartedTime);
  const isRunning = since !== undefined && millis(since) > 0;
  // Between two days the sweep has a workflow task in place of its activity.
  const tries = (activity ?? pendingWorkflowTask)?.attempt ?? 0;
  const failing = !isRunning && tries > 1;
  return defined({ status: failing ? 'failing' : 'running', since: isRunning ? since : undefined } as const);
}
