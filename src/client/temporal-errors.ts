/** What Temporal's errors mean to a caller of the client library, and what took too long. */
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
import { isOrderErrorCode, OrderScreeningError } from '../contract/errors.ts';
import { whyUnread } from '../orders/check-messages.ts';

/** A call to Temporal, or to an order, had no answer in time. Whether it was done isn't known. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** How long a caller waits for what an order answers, unless it is the decision; in milliseconds. */
export const ANSWER_WITHIN_MS = 10_000;

/** How long a read may take; in milliseconds. */
export const READ_WITHIN_MS = 5_000;

/** Beyond the call's own deadline, so that its error, which says more, comes first. */
const SLACK_MS = 100;

/**
 * Runs a call to Temporal that ends by `deadline` (ms after the epoch). The connection's own deadline isn't enough: while
 * the server can't be reached, a pause before the next try goes on for seconds after it.
 */
export async function within<T>(client: Client, deadline: number, call: () => Promise<T>): Promise<T> {
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

const detailsSchema = z.object({
  errors: z.array(z.object({ path: z.string(), message: z.string() })).exactOptional(),
  cancelBy: z.string().exactOptional(),
  serviceCode: z.string().exactOptional(),
  serviceMessage: z.string().exactOptional(),
});

/** Returns the product's error for one of Temporal's; anything else as it came. */
export function toOrderError(error: unknown): unknown {
  if (error instanceof WorkflowUpdateFailedError || error instanceof WorkflowFailedError) {
    return fromFailure(error.cause) ?? error;
  }
  if (isWithoutNamespace(error)) return temporalUnavailable(error, NO_NAMESPACE);
  return isUnavailable(error) ? temporalUnavailable(error) : error;
}

/** Runs a call to Temporal that takes at most so long. @throws the product's error for Temporal's */
export async function callTemporal<T>(client: Client, withinMs: number, call: () => Promise<T>): Promise<T> {
  try {
    return await within(client, Date.now() + withinMs, call);
  } catch (error) {
    throw toOrderError(error);
  }
}

const NO_ANSWER =
  'Temporal or a worker did not answer, so the outcome is unknown: send the same request again';
const NO_NAMESPACE =
  'Temporal does not know the namespace: set TEMPORAL_NAMESPACE right, or make it by npm run setup:temporal';

export function temporalUnavailable(cause?: unknown, words = NO_ANSWER): OrderScreeningError {
  const error = new OrderScreeningError('temporal-unavailable', words);
  if (cause !== undefined) error.cause = cause;
  return error;
}

/** @returns what Temporal brought @throws OrderScreeningError when nobody can read it: a tool that is none of ours wrote it */
export function readable<T>(value: T): T {
  const why = whyUnread(value);
  if (why !== undefined) throw temporalUnavailable(undefined, `The order’s answer cannot be read: ${why}`);
  return value;
}

/** @returns the error of an order that a worker has begun with and has not answered: the same is to be sent again */
export function workerSilent(): OrderScreeningError {
  return temporalUnavailable(new DeadlinePassed('the worker did not answer in time'));
}

/** @returns whether a call ended without an answer: its deadline passed or it was cut off */
export function isUnanswered(error: unknown): boolean {
  const known = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || error instanceof DeadlinePassed;
  const code = grpcErrorIn(error)?.code;
  return known || code === grpcCode.deadlineExceeded || code === grpcCode.cancelled;
}

/** @returns whether the server has its fill, such as of updates in flight of one order; what was asked wasn't taken */
export function isExhausted(error: unknown): boolean {
  return grpcErrorIn(error)?.code === grpcCode.resourceExhausted;
}

/**
 * @returns whether the order no longer takes updates: it had ended before this one came, or it ended in the task in which the
 * update was accepted. What became of the update is then on the order's record, or nowhere.
 */
export function isEnded(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'AcceptedUpdateCompletedWorkflow';
}

function isUnavailable(error: unknown): boolean {
  if (isUnanswered(error)) return true;
  const grpc = grpcErrorIn(error);
  // A request that is wrong in itself stays wrong: that is our mistake, and nobody should send it again.
  return grpc !== undefined && grpc.code !== grpcCode.invalidArgument;
}

/** An order that isn't found has an error of its own. A new namespace is known to the servers one after another. */
function isWithoutNamespace(error: unknown): boolean {
  return error instanceof NamespaceNotFoundError || grpcErrorIn(error)?.code === grpcCode.notFound;
}

function grpcErrorIn(error: unknown) {
  if (isGrpcServiceError(error)) return error;
  return error instanceof ServiceError && isGrpcServiceError(error.cause) ? error.cause : undefined;
}

function fromFailure(failure: Error | undefined): OrderScreeningError | undefined {
  if (!(failure instanceof ApplicationFailure) || !isOrderErrorCode(failure.type)) return undefined;
  const details = detailsSchema.safeParse(failure.details?.[0]);
  return new OrderScreeningError(failure.type, failure.message, details.success ? details.data : {});
}

export function orderClosed(): OrderScreeningError {
  return new OrderScreeningError('order-closed', 'The order is closed and takes nothing more of this kind');
}

export function unknownOrder(): OrderScreeningError {
  return new OrderScreeningError('unknown-order', 'No such order in this integration, or none any more');
}

export function attemptMismatch(): OrderScreeningError {
  return new OrderScreeningError(
    'attempt-mismatch',
    'This attempt of the order was sent before with another content: send the next attempt, or another order id',
  );
}

/** gRPC's numbers of the refusals that are told apart. */
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
  unauthenticated: 16,
} as const;
