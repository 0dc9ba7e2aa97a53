import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { grpcCode } from '../grpc-code.ts';
import type { TemporalServices } from './missing-search-attributes.ts';

/** The servers of a cluster learn of a new namespace one after another. */
const KNOWN_WITHIN_MS = 60_000;

/**
 * Makes the namespace where it is missing.
 *
 * @returns whether it was made now
 * @throws Error in words when it can't be made, as on Temporal Cloud; the connection's error when nobody answers
 */
export async function registerNamespace(
  { workflowService }: TemporalServices,
  namespace: string,
  retentionSeconds: number,
): Promise<boolean> {
  if (await isKnown(workflowService, namespace)) return false;
  try {
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(retentionSeconds * 1000),
    });
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    if (error.code !== grpcCode.alreadyExists) {
      throw new Error(
        `Namespace "${namespace}" does not exist and could not be made (${error.details}). ` +
          'On Temporal Cloud make it in the web interface; elsewhere ask an operator of the cluster.',
      );
    }
  }
  const deadline = Date.now() + KNOWN_WITHIN_MS;
  while (!(await isUsable(workflowService, namespace))) {
    if (Date.now() >= deadline) {
      throw new Error(`Namespace "${namespace}" was made, and the server does not know it yet: try again.`);
    }
    await sleep(200);
  }
  return true;
}

type Service = TemporalServices['workflowService'];

async function isKnown(service: Service, namespace: string): Promise<boolean> {
  return unlessNotFound(() => service.describeNamespace({ namespace }));
}

/** Describing reads the database; anything else asks what each server remembers. */
async function isUsable(service: Service, namespace: string): Promise<boolean> {
  return unlessNotFound(() => service.countWorkflowExecutions({ namespace }));
}

async function unlessNotFound(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === grpcCode.notFound) return false;
    throw error;
  }
}
