/** Validates messages to an order. Programs can send them directly through Temporal, bypassing the client library. Pure, no zod. */
import { cardDataRefusal } from '../../card-data/card-data.ts';
import type { FieldError, OrderErrorCode } from '../../contract/errors.ts';
import { DEFAULT_INTEGRATION, orderWorkflowId, sameTransaction } from '../../contract/ids.ts';
import type {
  AdoptRequest,
  DecisionRequest,
  Envelope,
  MessageKind,
  RetryRequest,
  ScreenOrderInput,
} from '../../contract/messages.ts';
import type { Adoption, Attempt, OrderState } from '../../contract/order/state.ts';
import type { Policy } from '../../contract/policy.ts';
import { isPortalAction } from '../../contract/portal/portal-kinds.ts';
import { isRecord } from '../../contract/values.ts';
import {
  type By,
  GATEWAY_RESULTS,
  type IntegrationWorkflow,
  KEY_MISSING,
  millis,
  REFUSED_PAYLOAD,
} from '../../contract/words.ts';
import { bytesOf } from '../bounds.ts';
import { defined } from '../defined.ts';
import type { Refusal, Request, Sent } from '../order.ts';
import { currentAttempt } from '../record.ts';
import { cancelAsked } from '../transactions.ts';
import { ENVELOPE, type Fields, fieldsOf, MESSAGES, misfits, ORDER, textOf } from './shapes.ts';

const MAX_ATTEMPTS = 20;
/** Maximum bytes of a transaction as JSON: about a thousand line items. Assumption «request size». */
const TRANSACTION_LIMIT = 256 * 1024;
/** The maximum nesting of a transaction, so that everything that reads it may recurse. */
const MAX_DEPTH = 20;

/** @returns why the payload codec or converter could not read a value, or undefined: it could */
export function whyUnread(value: unknown): string | undefined {
  if (typeof value !== 'string' || !value.startsWith(REFUSED_PAYLOAD)) return undefined;
  return value.slice((lacksKey(value) ? KEY_MISSING : REFUSED_PAYLOAD).length);
}

/** @returns whether this process lacks the value's payload key, or the value was changed */
export function lacksKey(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(KEY_MISSING);
}

/**
 * The message of an unread payload keeps its mark, by which the client tells it from an invalid request.
 * @returns why a message is invalid: its payload was refused, or it has a different shape; undefined if it is valid
 */
export function shapeRefusal(message: unknown, fields: Fields): Refusal | undefined {
  const unread = whyUnread(message);
  if (unread !== undefined) {
    const errors = [{ path: '', message: unread }];
    return { code: 'invalid-request', message: `${REFUSED_PAYLOAD}${unread}.`, errors };
  }
  if (!isRecord(message)) return invalid([{ path: '', message: 'must be one JSON object' }]);
  const wrong = misfits(message, fields);
  if (wrong.length === 0) return undefined;
  return invalid(wrong.map((path) => ({ path, message: 'is missing, or of the wrong type or length' })));
}

/**
 * Checks a message before any of it is recorded. The sender declares ids that look like card numbers in the message itself, since an order
 * has no policy before its first answer.
 * @param ids the id of the update, which Temporal stores, and the caller's idempotency key
 * @returns why the message is refused: it can't be read or contains card data; undefined if it is accepted
 */
export function messageRefusal(
  message: unknown,
  fields: Fields,
  ids: readonly (string | undefined)[] = [],
): Refusal | undefined {
  const refused = shapeRefusal(message, fields);
  if (refused !== undefined) return refused;
  const { notCards } = fieldsOf(message);
  const refusals = ids.map((idempotencyKey) => cardDataRefusal({ idempotencyKey }));
  return (
    cardDataRefusal(message, { notCards: Array.isArray(notCards) ? notCards : [] }) ??
    refusals.find((one) => one !== undefined)
  );
}

/**
 * @param continued whether an earlier run of the order started this one and has checked the input
 * @returns why an order can't be started with this input, or undefined: it can
 */
export function startRefusal(
  input: ScreenOrderInput & { resume?: unknown },
  workflowId: string,
  continued = false,
): Refusal | undefined {
  const tooLarge = sizeError(fieldsOf(input).transaction);
  if (tooLarge !== undefined) return invalid([tooLarge]);
  const refused = continued
    ? shapeRefusal(input, ORDER)
    : messageRefusal(input, { ...ORDER, resume: (given) => given === undefined });
  if (refused !== undefined) return refused;
  if (workflowId === orderWorkflowId(input.integration ?? DEFAULT_INTEGRATION, input.orderId))
    return undefined;
  return invalid([
    {
      path: 'workflowId',
      message: 'must be order:<integration>:<orderId>, so that an order is one workflow',
    },
  ]);
}

/** @returns the error of a transaction that is too large or too deeply nested for an order, if it is */
export function sizeError(transaction: unknown): FieldError | undefined {
  const tooDeep = depthError(transaction);
  if (tooDeep !== undefined || bytesOf(transaction) <= TRANSACTION_LIMIT) return tooDeep;
  return { path: 'transaction', message: `must have at most ${TRANSACTION_LIMIT} bytes as JSON` };
}

/** The same for the nesting alone, of a transaction that may not be JSON yet. */
export function depthError(transaction: unknown): FieldError | undefined {
  const isDeeper = (value: unknown, levels: number): boolean =>
    typeof value === 'object' &&
    value !== null &&
    (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));
  if (!isDeeper(transaction, MAX_DEPTH)) return undefined;
  return { path: 'transaction', message: `must be nested at most ${MAX_DEPTH} levels deep` };
}

/** How far another system's clock may be ahead of ours. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Checks an adoption against the current policy. @returns its errors; empty if the transaction may be read */
export function adoptionErrors(
  { screenedAt, gatewayResult }: Adoption,
  { workflow, reviewLimitMs }: Pick<Policy, 'workflow' | 'reviewLimitMs'>,
  nowMs: number,
): FieldError[] {
  const errors: FieldError[] = [];
  const add = (path: string, message: string): number => errors.push({ path, message });
  if (millis(screenedAt) > nowMs + CLOCK_TOLERANCE_MS) add('screenedAt', 'must not be in the future');
  if (millis(screenedAt) < nowMs - reviewLimitMs) {
    add('screenedAt', 'must not be earlier than the policy’s reviewLimit ago');
  }
  if (workflow === 'pre-gateway' && gatewayResult === undefined) {
    add('gatewayResult', `is required in pre-gateway: ${GATEWAY_RESULTS.join(', ')}`);
  }
  if (workflow !== 'pre-gateway' && gatewayResult !== undefined) {
    add('gatewayResult', 'must be left out: only pre-gateway orders have one');
  }
  return errors;
}

export function decisionRefusal(state: OrderState, request: DecisionRequest): Refusal | undefined {
  const attempt = state.attempts.find((one) => one.number === request.attempt);
  if (attempt === undefined) return refusal('unknown-attempt', 'The order has no such attempt.');
  return mismatch(state, attempt, request.fingerprint);
}

/** @returns why the `adopt` update is refused, or undefined: the order has the transaction, or is adopting it */
export function adoptRefusal(state: OrderState, { transactionId }: AdoptRequest): Refusal | undefined {
  const known = [state.adopted?.transactionId, ...state.transactions.map(({ id }) => id)];
  if (known.some((one) => sameTransaction(one, transactionId))) return undefined;
  return refusal('order-exists', 'The order already exists, and this transaction doesn’t belong to it.');
}

export function retryRefusal(state: OrderState, request: RetryRequest): Refusal | undefined {
  const tooLarge = sizeError(request.transaction);
  if (tooLarge !== undefined) return invalid([tooLarge]);
  const made = state.attempts.find((one) => one.number === request.attempt);
  if (made !== undefined) return mismatch(state, made, request.fingerprint);
  if (state.phase === 'canceled' || state.endedAt !== undefined) {
    return refusal('order-closed', 'The order is closed and accepts no more attempts.');
  }
  if (state.adopted !== undefined) {
    return refusal(
      'retry-out-of-turn',
      'The order was adopted and can’t be retried: send the attempt as a new order with an invoice number of its own.',
    );
  }
  if (request.attempt > MAX_ATTEMPTS) {
    return refusal('too-many-attempts', `An order has at most ${MAX_ATTEMPTS} attempts.`);
  }
  if (!takesNextAttempt(state) || request.attempt !== state.attempts.length + 1) {
    return refusal(
      'retry-out-of-turn',
      'The order accepts another attempt only when it is declined or its decision is `error`. Its number must be one higher than the last.',
    );
  }
  const { workflow: known } = state.policy;
  const { workflow = known } = request;
  // The other two check a transaction by the same rules.
  const isCheckedAlike = (workflow === 'pre-gateway') === (known === 'pre-gateway');
  return isCheckedAlike ? undefined : invalid([workflowError(known)]);
}

/** The error of an attempt whose transaction was checked by the rules of a different workflow. */
function workflowError(workflow: IntegrationWorkflow): FieldError {
  const message = `must be ${workflow}, by which the order is screened: name it, or send the attempt as a new order with an invoice number of its own`;
  return { path: 'workflow', message };
}

function takesNextAttempt(state: OrderState): boolean {
  const { phase, decision, wouldBe } = state;
  // A passive order declines no customer, but the plugin that decides in its place may have.
  const isDeclined = phase === 'declined' || (wouldBe === 'decline' && phase !== 'screening');
  const open = isDeclined || (phase === 'decided' && decision === 'error');
  return open && currentAttempt(state).answer !== undefined && !cancelAsked(state);
}

function mismatch(state: OrderState, attempt: Attempt, given: string | undefined): Refusal | undefined {
  const known = attempt.fingerprint;
  if (known === undefined || given === undefined || known === given) return undefined;
  const isNext = attempt === currentAttempt(state) && takesNextAttempt(state);
  const otherwise = isNext ? 'send the next attempt' : 'read the order';
  return refusal(
    'attempt-mismatch',
    `This attempt was sent before with different content: send it again with its first content, or ${otherwise}.`,
  );
}

export function refusal(code: OrderErrorCode, message: string): Refusal {
  return { code, message };
}

export function invalid(errors: FieldError[]): Refusal {
  const where = errors.map(({ path, message }) => `${path || 'input'} ${message}`).join('; ');
  return { code: 'invalid-request', message: `Invalid request: ${where}.`, errors };
}

/** @returns why an update is refused before any of it is recorded, or undefined */
export function updateRefusal(
  kind: MessageKind,
  message: unknown,
  update: { id: string; name: string },
): Refusal | undefined {
  const refused = shapeRefusal(message, ENVELOPE);
  if (refused !== undefined) return refused;
  const { type, updateId, key, body } = fieldsOf(message);
  if (type === update.name && updateId === update.id)
    return messageRefusal(withoutNulls(body), MESSAGES[kind], [update.id, textOf(fieldsOf(key).name)]);
  return invalid([
    { path: 'updateId', message: 'is of a different update: a message can be sent only once' },
  ]);
}

/** Opens an update that was accepted. */
export function opened(
  kind: MessageKind,
  { updateId, key, ifAction, body }: Omit<Envelope<unknown>, 'type'>,
): { request: Request; sent: Sent } {
  return { request: requestOf(kind, body), sent: defined({ updateId, key, ifAction }) };
}

/** Omits fields that are `null`, as some languages send missing fields. */
export function withoutNulls(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const given = Object.entries(message).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name, name === 'by' ? withoutNulls(value) : value]),
  );
}

/** Returns the request of a message, whose shape has been checked. Drops unknown fields. */
function requestOf(kind: MessageKind, message: unknown): Request {
  const known = ['notCards', ...Object.keys(MESSAGES[kind])];
  const given = Object.entries(fieldsOf(withoutNulls(message))).filter(([name]) => known.includes(name));
  const request: { by?: By } = Object.fromEntries(given);
  if (!isPortalAction(kind)) return { kind, request } as Request;
  // `by` is not part of the fields that are sent.
  const { by, ...fields } = request;
  return { kind: 'portal', request: { fields: { ...fields, kind }, ...(by && { by }) } } as Request;
}
