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

/** Returns how many workers poll a task queue and get its tasks: those of the current build, or unversioned ones without one. */
export async function countPollers(
  { options: { namespace }, workflowService }: Client,
  { name, type }: (typeof POLLED_QUEUES)[number],
): Promise<number> {
  const taskQueueType = TASK_QUEUE_TYPE[type];
  const { pollers, versioningInfo } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType,
  });
  const since = Date.now() - POLLED_WITHIN_MS;
  const current = buildOf(versioningInfo?.currentDeploymentVersion);
  return pollers.filter(
    ({ lastAccessTime, deploymentOptions }) =>
      (msOf(lastAccessTime) ?? 0) >= since && buildOf(deploymentOptions) === current,
  ).length;
}

/** Returns a build with its deployment; an empty text for an unversioned worker. */
function buildOf(
  version: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): string {
  return version?.deploymentName ? `${version.deploymentName}.${version.buildId}` : '';
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
