/** What orders need of a namespace: its search attributes, its retention, the sweep. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionLike, isGrpcServiceError, WorkflowClient } from '@temporalio/client';
import type { SearchAttributeType } from '@temporalio/common';
import proto from '@temporalio/proto';
import { grpcCode } from '../client/temporal-errors.ts';
import { TASK_QUEUE } from '../contract/ids.ts';
import { SWEEP_ID, SWEEP_ORDERS } from '../contract/sweep.ts';
import { orderSearchAttributes } from '../orders/describe.ts';

/** How long a closed order stays readable, and its id taken. */
export const RETENTION_DAYS = 90;
export const RETENTION_SECONDS = RETENTION_DAYS * 24 * 3600;

const USABLE_WITHIN_MS = 30_000;
// A refusal because another process was first is good news within this; any other refusal stays one.
const USABLE_AFTER_REFUSAL_MS = 2000;

/**
 * Makes a namespace fit for orders: registers the search attributes, waits until the server shows them, and sets the
 * retention to 90 days. Doing it again changes nothing.
 *
 * @returns what could not be done and doesn't stop orders, in words: on Temporal Cloud the retention is set elsewhere
 * @throws Error when a search attribute is missing afterwards, naming each one with its type
 */
export async function setupTemporal(connection: TemporalServices, namespace: string): Promise<string[]> {
  const refusal = await registerMissing(connection, namespace);
  const missing = await missingAfterAWhile(
    connection,
    namespace,
    refusal === undefined ? USABLE_WITHIN_MS : USABLE_AFTER_REFUSAL_MS,
  );
  if (missing.length > 0) throw new Error(missingInWords(missing, namespace, refusal));
  return setRetention(connection, namespace);
}

/** Registers what is missing; why that can't be is returned in words. */
async function registerMissing(connection: TemporalServices, namespace: string): Promise<string | undefined> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return undefined;
  try {
    // The server passes over a name that exists, whatever its type, without a word.
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const taken = missing.filter((name) => name in customAttributes);
    if (taken.length > 0) return `${taken.join(', ')} exist with another type`;
    await addSearchAttributes(connection, namespace, missing);
    return undefined;
  } catch (error) {
    return inWords(error);
  }
}

/**
 * Asks the server to add search attributes of orders, all of them unless named.
 *
 * @throws the server's refusal
 */
export async function addSearchAttributes(
  connection: TemporalServices,
  namespace: string,
  names: readonly string[] = orderSearchAttributes.map(({ name }) => name),
): Promise<void> {
  const searchAttributes = Object.fromEntries(
    orderSearchAttributes
      .filter(({ name }) => names.includes(name))
      .map(({ name, type }) => [name, indexedValueType[type]]),
  );
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

async function missingAfterAWhile(
  connection: TemporalServices,
  namespace: string,
  withinMs: number,
): Promise<string[]> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const missing = await missingSearchAttributes(connection, namespace);
    if (missing.length === 0 || Date.now() >= deadline) return missing;
    await sleep(100);
  }
}

function missingInWords(missing: string[], namespace: string, refusal: string | undefined): string {
  const list = orderSearchAttributes
    .filter(({ name }) => missing.includes(name))
    .map(({ name, type }) => `${name} (${type})`)
    .join(', ');
  return [
    `Namespace "${namespace}" lacks search attributes, or has them with another type: ${list}.`,
    refusal === undefined ? '' : `They could not be added: ${refusal}.`,
    'On Temporal Cloud add them in the web interface or with tcld; elsewhere ask an operator of the cluster.',
  ]
    .filter((line) => line !== '')
    .join(' ');
}

async function setRetention(connection: TemporalServices, namespace: string): Promise<string[]> {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) === RETENTION_SECONDS) return [];
    await connection.workflowService.updateNamespace({
      namespace,
      config: {
        workflowExecutionRetentionTtl: proto.google.protobuf.Duration.fromObject({
          seconds: RETENTION_SECONDS,
        }),
      },
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
      workflowExecutionRetentionPeriod: proto.google.protobuf.Duration.fromObject({
        seconds: retentionSeconds,
      }),
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

/** What is asked of a connection here: a client's, a worker's and a test environment's all have it. */
export type TemporalServices = Pick<ConnectionLike, 'workflowService' | 'operatorService'>;

/** The server's numbers (`temporal.api.enums.v1.IndexedValueType`) of the types. */
const indexedValueType: Record<SearchAttributeType, number> = {
  TEXT: 1,
  KEYWORD: 2,
  INT: 3,
  DOUBLE: 4,
  BOOL: 5,
  DATETIME: 6,
  KEYWORD_LIST: 7,
};

function isRefusal(error: unknown, ...codes: number[]): boolean {
  return isGrpcServiceError(error) && codes.includes(error.code);
}

/**
 * The names of the search attributes of orders that the namespace lacks or has with another type. A worker must not
 * start while there is one: an unregistered attribute fails every order's first task again and again.
 *
 * @throws the connection's error when the server can't be asked
 */
export async function missingSearchAttributes(
  connection: TemporalServices,
  namespace: string,
): Promise<string[]> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return orderSearchAttributes
      .filter(({ name, type }) => customAttributes[name] !== indexedValueType[type])
      .map(({ name }) => name);
  } catch (error) {
    // Temporal Cloud has no operator service; there a query by the attribute tells.
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

/** Starts what looks over the open orders each minute. Doing it again changes nothing. */
export async function startSweep(connection: ConnectionLike, namespace: string): Promise<void> {
  await new WorkflowClient({ connection, namespace }).start(SWEEP_ORDERS, {
    workflowId: SWEEP_ID,
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue: TASK_QUEUE,
    staticSummary: 'Looks over the open orders for stuck and overdue ones',
  });
}
