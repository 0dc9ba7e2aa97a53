/** Sets up a namespace for orders: search attributes, retention and the sweep. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionLike, isGrpcServiceError, WorkflowClient } from '@temporalio/client';
import type { SearchAttributeType } from '@temporalio/common';
import proto from '@temporalio/proto';
import { grpcCode } from '../client/temporal-errors.ts';
import { TASK_QUEUE } from '../contract/ids.ts';
import { SWEEP_ID, SWEEP_ORDERS } from '../contract/sweep.ts';
import { orderSearchAttributes } from '../order/view/search-attributes.ts';

/** How long a closed order stays readable and its id stays in use. */
export const RETENTION_DAYS = 90;
const RETENTION = proto.google.protobuf.Duration.fromObject({ seconds: RETENTION_DAYS * 24 * 3600 });

const USABLE_WITHIN_MS = 30_000;
// After a refusal, wait this long: a different process may have registered the attributes first.
const USABLE_AFTER_REFUSAL_MS = 2000;

/**
 * Sets up a namespace for orders: registers the search attributes, waits until the server lists them, and sets the
 * retention to 90 days. Idempotent.
 *
 * @returns warnings about steps that failed but don't prevent orders, such as the retention on Temporal Cloud
 * @throws Error when search attributes are missing afterwards; the message lists them with their types
 */
export async function setupTemporal(connection: TemporalServices, namespace: string): Promise<string[]> {
  const refusal = await registerMissing(connection, namespace);
  const deadline = Date.now() + (refusal === undefined ? USABLE_WITHIN_MS : USABLE_AFTER_REFUSAL_MS);
  let missing = await missingSearchAttributes(connection, namespace);
  while (missing.length > 0 && Date.now() < deadline) {
    await sleep(100);
    missing = await missingSearchAttributes(connection, namespace);
  }
  if (missing.length > 0) throw new Error(missingInWords(missing, namespace, refusal));
  return setRetention(connection, namespace);
}

/** Registers missing search attributes. @returns why the server refused, or undefined */
async function registerMissing(connection: TemporalServices, namespace: string): Promise<string | undefined> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return undefined;
  try {
    // The server silently ignores a name that exists, even with a different type.
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const taken = missing.filter((name) => name in customAttributes);
    if (taken.length > 0) return `${taken.join(', ')} exist with a different type`;
    await addSearchAttributes(connection, namespace, missing);
    return undefined;
  } catch (error) {
    return inWords(error);
  }
}

/**
 * Adds search attributes of orders to the namespace.
 *
 * @param names all by default
 * @throws the server's error
 */
export async function addSearchAttributes(
  connection: TemporalServices,
  namespace: string,
  names: readonly string[] = orderSearchAttributes.map(({ name }) => name),
): Promise<void> {
  const searchAttributes = Object.fromEntries(
    orderSearchAttributes
      .filter(({ name }) => names.includes(name))
      .map(({ name, type }) => [name, indexedValueType(type)]),
  );
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

function missingInWords(missing: string[], namespace: string, refusal: string | undefined): string {
  const list = orderSearchAttributes
    .filter(({ name }) => missing.includes(name))
    .map(({ name, type }) => `${name} (${type})`)
    .join(', ');
  const refused = refusal === undefined ? '' : ` They could not be added: ${refusal}.`;
  return (
    `Namespace "${namespace}" lacks search attributes, or has them with a different type: ${list}.${refused} ` +
    'On Temporal Cloud add them in the web interface or with tcld; elsewhere ask an operator of the cluster.'
  );
}

async function setRetention(connection: TemporalServices, namespace: string): Promise<string[]> {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) === Number(RETENTION.seconds)) return [];
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: RETENTION },
    });
    return [];
  } catch (error) {
    return [
      `The retention of namespace "${namespace}" could not be set to ${RETENTION_DAYS} days (${inWords(error)}). ` +
        'After its retention an order id counts as new. On Temporal Cloud set it in the web interface.',
    ];
  }
}

function inWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The servers of a cluster don't all see a new namespace at the same time. */
const KNOWN_WITHIN_MS = 60_000;

/**
 * Creates the namespace unless it exists.
 *
 * @returns whether it was created now
 * @throws Error when it can't be created, as on Temporal Cloud; the connection's error when Temporal is unreachable
 */
export async function registerNamespace(
  { workflowService }: TemporalServices,
  namespace: string,
): Promise<boolean> {
  if (await unlessNotFound(() => workflowService.describeNamespace({ namespace }))) return false;
  try {
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: RETENTION,
    });
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    if (error.code !== grpcCode.alreadyExists) {
      throw new Error(
        `Namespace "${namespace}" does not exist and could not be created (${error.details}). ` +
          'On Temporal Cloud create it in the web interface; elsewhere ask an operator of the cluster.',
      );
    }
  }
  const deadline = Date.now() + KNOWN_WITHIN_MS;
  // Describing a namespace reads the database. This call uses each server's cache, which may not have it yet.
  while (!(await unlessNotFound(() => workflowService.countWorkflowExecutions({ namespace })))) {
    if (Date.now() >= deadline) {
      throw new Error(`Namespace "${namespace}" was created but is not available yet: try again.`);
    }
    await sleep(200);
  }
  return true;
}

async function unlessNotFound(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (isRefusal(error, grpcCode.notFound)) return false;
    throw error;
  }
}

/** The services of a connection that this file uses; clients, workers and test environments have them. */
export type TemporalServices = Pick<ConnectionLike, 'workflowService' | 'operatorService'>;

function indexedValueType(type: SearchAttributeType): number {
  return proto.temporal.api.enums.v1.IndexedValueType[`INDEXED_VALUE_TYPE_${type}`];
}

function isRefusal(error: unknown, ...codes: number[]): boolean {
  return isGrpcServiceError(error) && codes.includes(error.code);
}

/**
 * Returns the search attributes of orders that the namespace lacks or has with a different type. A worker must not start
 * while one is missing: every order's first task would keep failing.
 *
 * @throws the connection's error when the server is unreachable
 */
export async function missingSearchAttributes(
  connection: TemporalServices,
  namespace: string,
): Promise<string[]> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return orderSearchAttributes
      .filter(({ name, type }) => customAttributes[name] !== indexedValueType(type))
      .map(({ name }) => name);
  } catch (error) {
    // Temporal Cloud has no operator service. A query with the attribute shows whether it exists.
    if (!isRefusal(error, grpcCode.unimplemented, grpcCode.permissionDenied)) throw error;
  }
  const missing: string[] = [];
  for (const { name } of orderSearchAttributes) {
    if (!(await canBeQueried(connection, namespace, name))) missing.push(name);
  }
  return missing;
}

async function canBeQueried(connection: TemporalServices, namespace: string, name: string): Promise<boolean> {
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query: `${name} is null` });
    return true;
  } catch (error) {
    if (isRefusal(error, grpcCode.invalidArgument)) return false;
    throw error;
  }
}

/** Starts the sweep, which checks the open orders every minute. Idempotent. */
export async function startSweep(connection: ConnectionLike, namespace: string): Promise<void> {
  await new WorkflowClient({ connection, namespace }).start(SWEEP_ORDERS, {
    workflowId: SWEEP_ID,
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue: TASK_QUEUE,
    staticSummary: 'Looks over the open orders for stuck and overdue ones',
  });
}
