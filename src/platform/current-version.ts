import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { buildOf, buildsPolling } from '../client/health.ts';
import { grpcCode } from '../client/temporal-errors.ts';
import { POLLED_QUEUES } from '../contract/ids.ts';
import type { TemporalServices } from './namespace.ts';

/** A poll lasts a minute, so a running worker has polled within this time. The server lists pollers for five minutes. */
const RECENT_MS = 65_000;

/** How long newly started workers may take until the server lists them on every queue. */
const POLLING_WITHIN_MS = 60_000;

/**
 * Makes a version of the worker deployment current. From then on it gets the tasks of new and open orders. Waits until its
 * workers poll every task queue; the server still lists a worker for a minute after its end. Idempotent.
 *
 * @param withinMs maximum wait in milliseconds
 * @returns the previous build id, or undefined if there was none or it is the same
 * @throws Error when the version's workers don't poll every task queue, or the server refuses
 */
export async function makeCurrent(
  { workflowService }: TemporalServices,
  namespace: string,
  version: WorkerDeploymentVersion,
  withinMs = POLLING_WITHIN_MS,
): Promise<string | undefined> {
  const { deploymentName, buildId } = version;
  const request = { namespace, deploymentName, buildId, identity: 'setup:temporal' };
  const deadline = Date.now() + withinMs;
  for (;;) {
    const missing: string[] = [];
    for (const queue of POLLED_QUEUES) {
      const { polling } = await buildsPolling({ workflowService }, namespace, queue, RECENT_MS);
      if (!polling.includes(buildOf(version))) missing.push(queue.name);
    }
    let refusal: string | undefined;
    if (missing.length === 0) {
      try {
        const answer = await workflowService.setWorkerDeploymentCurrentVersion(request);
        const before = answer.previousDeploymentVersion?.buildId ?? undefined;
        return before === buildId ? undefined : before;
      } catch (error) {
        // The server registers a new version shortly after its first poll.
        if (!isGrpcServiceError(error) || !NOT_YET.includes(error.code)) throw error;
        refusal = error.details;
      }
    }
    if (Date.now() >= deadline) throw new Error(inWords(version, missing, refusal));
    await sleep(500);
  }
}

const NOT_YET: readonly number[] = [grpcCode.notFound, grpcCode.failedPrecondition];

function inWords(
  { deploymentName, buildId }: WorkerDeploymentVersion,
  missing: readonly string[],
  refusal: string | undefined,
): string {
  const what = `WORKER_DEPLOYMENT_NAME "${deploymentName}" and WORKER_BUILD_ID "${buildId}"`;
  const why =
    refusal === undefined
      ? `No worker with ${what} polls ${[...new Set(missing)].join(', ')}: start the workers of this version first.`
      : `The server does not make ${what} current: ${refusal}.`;
  return `${why} The current version stays as it was.`;
}
