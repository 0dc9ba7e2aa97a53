/** Maps Temporal's errors and passed deadlines to the client library's errors. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError } from '@temporalio/common';
import { z } from 'zod';
import { PayloadCodecError } from '../codec/payload-codec.ts';
import { isOrderErrorCode, type OrderErrorDetails, OrderScreeningError } from '../contract/errors.ts';
import { errorDetails } from '../contract/terms.ts';
import { whyUnread } from '../order/messages/check-messages.ts';
import { fieldsOf } from '../order/messages/shapes.ts';

/** A call to Temporal or to an order got no answer in time. Its outcome is unknown. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** How long a caller waits for an answer of an order, decisions excepted; in milliseconds. */
export const ANSWER_WITHIN_MS = 10_000;

export const READ_WITHIN_MS = 5_000;

/** Added to the call's own deadline, so that the call's more specific error is thrown first. */
const SLACK_MS = 100;

const deadlineOfAll = new AsyncLocalStorage<number>();

/** Runs calls to Temporal, each of which ends by `deadline` (ms after the epoch) although it may have more time of its own. */
export function endingBy<T>(deadline: number, calls: () => Promise<T>): Promise<T> {
  return deadlineOfAll.run(Math.min(deadline, deadlineOfAll.getStore() ?? deadline), calls);
}

/** Milliseconds that are left of the time of `endingBy`, at most `mostMs`; at least 1. */
export function timeLeft(mostMs: number): number {
  return Math.max(1, Math.min(mostMs, (deadlineOfAll.getStore() ?? Infinity) - Date.now()));
}

/**
 * Runs a call to Temporal that ends by its deadline (ms after the epoch). The connection's own deadline isn't enough: while
 * the server is unreachable, its retry backoff outlasts the deadline by seconds.
 */
export async function within<T>(client: Client, ownDeadline: number, call: () => Promise<T>): Promise<T> {
  const deadline = Math.min(ownDeadline, deadlineOfAll.getStore() ?? ownDeadline);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new DeadlinePassed('Temporal did not answer in time')),
      deadline - Date.now() + SLACK_MS,
    );
  });
  try {
    return await Promise.race([client.withDeadline(deadline, call), late]);
  } finally {
    clearTimeout(timer);
  }
}

const detailsSchema = z.object(errorDetails);

/** Returns the `OrderScreeningError` for an error of Temporal or of the payload codec; any other value unchanged. */
export function toOrderError(error: unknown): unknown {
  if (error instanceof WorkflowUpdateFailedError) {
    return unreadRequest(error) ?? fromFailure(error.cause) ?? error;
  }
  // May be the end of an earlier request's workflow: its code says whether the workflow may be started again.
  if (error instanceof WorkflowFailedError) return fromFailure(error.cause) ?? error;
  if (error instanceof PayloadCodecError) return recordUnreadable(error);
  if (error instanceof NamespaceNotFoundError) return temporalUnavailable(error, NO_NAMESPACE);
  if (isUnanswered(error)) return temporalUnavailable(error);
  const grpc = grpcErrorIn(error);
  switch (grpc?.code) {
    case undefined:
      return error;
    // A missing order has its own error, so this means the namespace. Servers learn of a new namespace one by one.
    case grpcCode.notFound:
      return temporalUnavailable(error, NO_NAMESPACE);
    // Any other invalid argument is a bug in this product, and retrying does not help.
    case grpcCode.invalidArgument:
      return lacksAttributes(grpc) ? temporalUnavailable(error, NO_ATTRIBUTES) : error;
    default:
      return temporalUnavailable(error);
  }
}

/**
 * Returns the error for this call's request if a worker could not read its payload, for example because the worker lacks the key. The
 * request itself is valid, and the worker did nothing.
 */
export function unreadRequest(error: unknown): OrderScreeningError | undefined {
  const failed = error instanceof WorkflowUpdateFailedError || error instanceof WorkflowFailedError;
  const why = failed ? whyUnread(error.cause?.message) : undefined;
  if (why === undefined) return undefined;
  const words = `A worker could not read the request: ${why} Retrying the same request is safe`;
  return temporalUnavailable(error, words);
}

/** Runs a call to Temporal that takes at most `withinMs`. @throws OrderScreeningError for Temporal's errors */
export async function callTemporal<T>(client: Client, withinMs: number, call: () => Promise<T>): Promise<T> {
  try {
    return await within(client, Date.now() + withinMs, call);
  } catch (error) {
    throw toOrderError(error);
  }
}

const NO_ANSWER =
  'Temporal or a worker did not answer in time, so the outcome is unknown. Retrying the same request is safe';
const NO_NAMESPACE =
  'The Temporal namespace was not found: correct TEMPORAL_NAMESPACE, or create it with npm run setup:temporal';
const NO_ATTRIBUTES =
  'The Temporal namespace lacks search attributes of orders: register them with npm run setup:temporal';

export function temporalUnavailable(cause?: unknown, words = NO_ANSWER): OrderScreeningError {
  return new OrderScreeningError('temporal-unavailable', words, {}, cause);
}

/** Returns the error for an order whose record can't be read here, with the reason if it is known. */
export function recordUnreadable(cause?: unknown): OrderScreeningError {
  const words =
    cause instanceof PayloadCodecError
      ? `${cause.message}. The order itself continues: set PAYLOAD_KEYS of this process as for the workers`
      : 'The memo of the order has no record that this release can read. The order itself continues';
  return new OrderScreeningError('record-unreadable', words, {}, cause);
}

/** Returns the value unchanged. @throws OrderScreeningError if its shape is wrong, because other software wrote it */
export function readable<T>(value: T): T {
  const why = whyUnread(value);
  if (why !== undefined) throw temporalUnavailable(undefined, `The order’s answer cannot be read: ${why}`);
  return value;
}

/** @returns the error for an order that a worker has started on but not answered; retrying is safe */
export function workerSilent(): OrderScreeningError {
  return temporalUnavailable(new DeadlinePassed('the worker did not answer in time'));
}

/** @returns whether a call ended without an answer: its deadline passed or it was canceled */
export function isUnanswered(error: unknown): boolean {
  const known = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || error instanceof DeadlinePassed;
  const code = grpcErrorIn(error)?.code;
  return known || code === grpcCode.deadlineExceeded || code === grpcCode.cancelled;
}

/** @returns whether a server limit was reached, such as the updates in flight per order; the request wasn't accepted */
export function isExhausted(error: unknown): boolean {
  return grpcErrorIn(error)?.code === grpcCode.resourceExhausted;
}

/**
 * @returns whether the order no longer accepts updates: it ended before this update arrived, or in the workflow task that accepted
 * it. Only the order's record may show the update's outcome.
 */
export function isEnded(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'AcceptedUpdateCompletedWorkflow';
}

/** The server's words at a start and at a query. Those at an update-with-start are in the status that comes with it. */
const NO_SUCH_ATTRIBUTE =
  /no mapping defined for search attribute|search attribute \S+ is not defined|is not a valid search attribute/;

function lacksAttributes({ details, metadata }: NonNullable<ReturnType<typeof grpcErrorIn>>): boolean {
  const texts = [details, ...metadata.get('grpc-status-details-bin')];
  return texts.some((text) => NO_SUCH_ATTRIBUTE.test(String(text)));
}

function grpcErrorIn(error: unknown) {
  if (isGrpcServiceError(error)) return error;
  return error instanceof ServiceError && isGrpcServiceError(error.cause) ? error.cause : undefined;
}

function fromFailure(failure: Error | undefined): OrderScreeningError | undefined {
  if (!(failure instanceof ApplicationFailure) || !isOrderErrorCode(failure.type)) return undefined;
  return new OrderScreeningError(failure.type, failure.message, detailsOf(failure.details?.[0]));
}

/** Leaves out only the details that have an unknown shape, as those of a different release may. */
function detailsOf(value: unknown): OrderErrorDetails {
  const known = Object.entries(fieldsOf(value)).filter(
    ([name, given]) => detailsSchema.safeParse({ [name]: given }).success,
  );
  return detailsSchema.parse(Object.fromEntries(known));
}

export function orderClosed(): OrderScreeningError {
  return new OrderScreeningError('order-closed', 'The order is closed and no longer accepts this request');
}

export function unknownOrder(): OrderScreeningError {
  return new OrderScreeningError(
    'unknown-order',
    'This integration has no such order. Check the order id and the integration. Closed orders are deleted after 90 days',
  );
}

export function attemptMismatch(): OrderScreeningError {
  return new OrderScreeningError(
    'attempt-mismatch',
    'This attempt was sent before with different content: send it again with its first content, or read the order',
  );
}

export const grpcCode = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;
