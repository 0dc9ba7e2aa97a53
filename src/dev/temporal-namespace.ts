import { setTimeout as sleep } from 'node:timers/promises';
import { msToTs } from '@temporalio/common/lib/time.js';
import { orderSearchAttributes } from '../orders/search-attributes.ts';
import {
  indexedValueType,
  missingSearchAttributes,
  type TemporalServices,
} from './missing-search-attributes.ts';

/** How long a closed order stays readable, and its id taken (design, section 8). */
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
      config: { workflowExecutionRetentionTtl: msToTs(RETENTION_SECONDS * 1000) },
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
