/** Checks of what callers send to an order straight through Temporal, where no schema stands before it. Pure, no zod. */
import { bytesOf } from './bounds.ts';
import { cardDataRefusal } from './card-data.ts';
import type { Fault, OrderErrorCode } from './errors.ts';
import { DEFAULT_INTEGRATION, orderWorkflowId, sameTransaction } from './ids.ts';
import type {
  AdoptRequest,
  DecisionRequest,
  GatewayResultRequest,
  RetryRequest,
  ScreenOrderInput,
} from './messages.ts';
import type { Refusal } from './order.ts';
import type { Policy } from './policy.ts';
import { currentAttempt } from './record.ts';
import type { Adoption, OrderState } from './state.ts';
import { GATEWAY_RESULTS, INTEGRATION_WORKFLOWS, KEY_MISSING, millis, REFUSED_PAYLOAD } from './words.ts';

export const TEXT_LIMIT = 4_096;
/** Of why a person does something, in their own words. */
export const REASON_LIMIT = 500;
/** Of the names of who asks. */
export const ACTOR_LIMIT = 100;
const MOST_ATTEMPTS = 20;
/** Of a transaction as JSON, in bytes: the other half of what Temporal takes at once is for what becomes of the order. */
const TRANSACTION_LIMIT = 1024 * 1024;

/**
 * @param continued whether an earlier run of the order started this one
 * @returns why an order can't be started with this input, or undefined: it can
 */
export function startRefusal(
  input: ScreenOrderInput,
  workflowId: string,
  continued = false,
): Refusal | undefined {
  const errors: Fault[] = [];
  const fault = (path: string, message: string): number => errors.push({ path, message });
  const unread = payloadRefusal(input);
  if (unread !== undefined) return unread;
  if (!isRecord(input)) return invalid([{ path: '', message: 'must be one JSON object' }]);
  if (!isText(input.orderId, 64)) fault('orderId', 'must be a string of 1 to 64 characters');
  else if (input.orderId.startsWith('#')) fault('orderId', 'must be given without the leading #');
  if (input.integration !== undefined && !isText(input.integration, 64)) {
    fault('integration', 'must be the short key of an integration');
  }
  if (input.workflow !== undefined && !INTEGRATION_WORKFLOWS.includes(input.workflow)) {
    fault('workflow', 'must be pre-gateway, pre-acceptance or post-acceptance');
  }
  if (!isRecord(input.transaction)) fault('transaction', 'must be an object');
  if (input.cardRef !== undefined && !isText(input.cardRef, 200)) fault('cardRef', 'must be a string');
  if (input.fingerprint !== undefined && !isText(input.fingerprint, 200)) {
    fault('fingerprint', 'must be a string');
  }
  if (input.answerBy !== undefined && !isMoment(input.answerBy)) {
    fault('answerBy', 'must be a moment in ISO 8601, with its offset');
  }
  if (input.adopt !== undefined && !isAdoption(input.adopt)) {
    fault('adopt', 'must be {transactionId, screenedAt, gatewayResult?, force?}, screenedAt with its offset');
  }
  if (input.resume !== undefined && !continued) fault('resume', 'must not be given');
  if (errors.length > 0) return invalid(errors);
  const { resume: _own, ...given } = input;
  if (nestsTooDeep(given)) return invalid([{ path: 'transaction', message: 'nests too deep' }]);
  const tooLarge = sizeFault(input.transaction);
  if (tooLarge !== undefined) return invalid([tooLarge]);
  // The run before has judged it.
  const forbidden = continued ? undefined : messageRefusal(given);
  if (forbidden !== undefined) return forbidden;
  if (workflowId === orderWorkflowId(input.integration ?? DEFAULT_INTEGRATION, input.orderId))
    return undefined;
  return invalid([
    {
      path: 'workflowId',
      message: 'must be order:<integration>:<orderId>, so that an order is one workflow',
    },
  ]);
}

/** @returns why the `decision` update isn't taken, or undefined: it is */
export function decisionRefusal(state: OrderState, request: DecisionRequest): Refusal | undefined {
  const attempt = state.attempts.find((one) => one.number === request?.attempt);
  if (attempt === undefined) return refusal('unknown-attempt', 'The order has no such attempt.');
  return mismatch(attempt.fingerprint, request.fingerprint);
}

/** @returns what is wrong with a transaction that an order could not carry on, or undefined: it can */
export function sizeFault(transaction: unknown): Fault | undefined {
  if (bytesOf(transaction) <= TRANSACTION_LIMIT) return undefined;
  return { path: 'transaction', message: `must have at most ${TRANSACTION_LIMIT} bytes as JSON` };
}

function isAdoption(adopt: unknown): boolean {
  if (!isRecord(adopt) || !isText(adopt.transactionId, 64) || !isMoment(adopt.screenedAt)) return false;
  const { gatewayResult, force } = adopt;
  const knownResult = GATEWAY_RESULTS.some((one) => one === gatewayResult);
  return (gatewayResult === undefined || knownResult) && (force === undefined || typeof force === 'boolean');
}

/**
 * What else an adoption must keep, by the policy in force.
 * @returns its faults: none, and the transaction may be read
 */
export function adoptionFaults(
  { screenedAt, gatewayResult }: Adoption,
  { workflow, reviewLimitMs }: Pick<Policy, 'workflow' | 'reviewLimitMs'>,
  nowMs: number,
): Fault[] {
  const errors: Fault[] = [];
  const fault = (path: string, message: string): number => errors.push({ path, message });
  if (millis(screenedAt) > nowMs) fault('screenedAt', 'must not be in the future');
  if (millis(screenedAt) < nowMs - reviewLimitMs) {
    fault('screenedAt', 'must not be longer ago than the reviewLimit of the policy');
  }
  if (workflow === 'pre-gateway' && gatewayResult === undefined) {
    fault('gatewayResult', `is required in pre-gateway: ${GATEWAY_RESULTS.join(', ')}`);
  }
  if (workflow !== 'pre-gateway' && gatewayResult !== undefined) {
    fault('gatewayResult', 'must be left out: only pre-gateway orders have one');
  }
  return errors;
}

/** @returns why the `adopt` update isn't taken, or undefined: the order has the transaction, or is about to */
export function adoptRefusal(state: OrderState, request: AdoptRequest): Refusal | undefined {
  if (!isRecord(request) || !isText(request.transactionId, 64)) {
    return invalid([{ path: 'transactionId', message: 'must be the id of a transaction' }]);
  }
  const { transactionId } = request;
  const known = [state.adopted?.transactionId, ...state.transactions.map(({ id }) => id)];
  if (known.some((one) => sameTransaction(one, transactionId))) return undefined;
  return refusal('order-exists', 'The order exists already, and this transaction is not one of its own.');
}

/** @returns why the `retry` update isn't taken, or undefined: it is */
export function retryRefusal(state: OrderState, request: RetryRequest): Refusal | undefined {
  if (!isRecord(request) || !Number.isInteger(request.attempt) || !isRecord(request.transaction)) {
    return invalid([{ path: '', message: 'must be {attempt, transaction, cardRef?, fingerprint?}' }]);
  }
  if (nestsTooDeep(request)) return invalid([{ path: 'transaction', message: 'nests too deep' }]);
  const tooLarge = sizeFault(request.transaction);
  if (tooLarge !== undefined) return invalid([tooLarge]);
  const unread = textFaults({ cardRef: request.cardRef, fingerprint: request.fingerprint }, 200);
  if (unread.length > 0) return invalid(unread);
  const made = state.attempts.find((one) => one.number === request.attempt);
  if (made !== undefined) return mismatch(made.fingerprint, request.fingerprint);
  if (state.phase === 'canceled' || state.endedAt !== undefined) {
    return refusal('order-closed', 'The order is closed: it takes no other attempt.');
  }
  if (state.adopted !== undefined) {
    return refusal('retry-out-of-turn', 'The order was adopted: another attempt is an order of its own.');
  }
  if (request.attempt > MOST_ATTEMPTS) {
    return refusal('too-many-attempts', `An order has at most ${MOST_ATTEMPTS} attempts.`);
  }
  const open = state.phase === 'declined' || (state.phase === 'decided' && state.decision === 'error');
  const ready = open && currentAttempt(state).answer !== undefined && !state.cancelAsked;
  if (!ready || request.attempt !== state.attempts.length + 1) {
    return refusal(
      'retry-out-of-turn',
      'The order takes another attempt when it is declined or its decision is «error», numbered one after the last.',
    );
  }
  return undefined;
}

/** @returns why what goes with a gateway's result can't be sent on, or undefined: it can, or there is nothing */
export function gatewayFieldsRefusal(request: GatewayResultRequest): Refusal | undefined {
  const errors = textFaults(
    { authcode: request?.authcode, transactionId: request?.transactionId },
    TEXT_LIMIT,
  );
  return errors.length > 0 ? invalid(errors) : undefined;
}

/** @returns a fault for each that is neither left out, which some languages say by `null`, nor a text of at most so many characters */
function textFaults(texts: Record<string, unknown>, limit: number): Fault[] {
  return Object.entries(texts).flatMap(([path, value]) => {
    const fine = value === undefined || value === null || value === '' || isText(value, limit);
    return fine ? [] : [{ path, message: `must be a string of at most ${limit} characters` }];
  });
}

/**
 * Before anything of a message is taken in. What its sender vouches for stands in the message, since an order doesn't know
 * the policy before its first answer.
 * @param idempotencyKey the id of the update, which Temporal keeps
 * @returns why a message isn't taken: its payload was refused, or card data stands in it, and where; or undefined
 */
export function messageRefusal(message: unknown, idempotencyKey?: string): Refusal | undefined {
  const unread = payloadRefusal(message);
  if (unread !== undefined) return unread;
  const notCards = isRecord(message) && Array.isArray(message.notCards) ? message.notCards : [];
  const refused = cardDataRefusal(message, { notCards });
  return refused ?? cardDataRefusal({ idempotencyKey });
}

/** @returns why the payload codec or converter could not read what was sent, or undefined: it could */
export function whyUnread(value: unknown): string | undefined {
  if (typeof value !== 'string' || !value.startsWith(REFUSED_PAYLOAD)) return undefined;
  return value.slice((value.startsWith(KEY_MISSING) ? KEY_MISSING : REFUSED_PAYLOAD).length);
}

/** @returns why the payload codec didn't let it through, or undefined: it did */
export function payloadRefusal(message: unknown): Refusal | undefined {
  const unread = whyUnread(message);
  return unread === undefined
    ? undefined
    : { code: 'invalid-request', message: `${unread}.`, errors: [{ path: '', message: unread }] };
}

/** @returns why nobody can have asked that way, or undefined: who asks can be recorded, or isn't said */
export function byRefusal(by: unknown): Refusal | undefined {
  if (by === undefined || by === null) return undefined;
  if (!isRecord(by)) return invalid([{ path: 'by', message: 'must be {key?, actor?}' }]);
  const errors: Fault[] = [];
  for (const name of ['key', 'actor']) {
    const value = by[name] ?? undefined;
    const fine = value === undefined || (isText(value, ACTOR_LIMIT) && !/[\p{Cc}\p{Cs}]/u.test(value));
    const message = `must be a string of 1 to ${ACTOR_LIMIT} characters, without control characters`;
    if (!fine) errors.push({ path: `by.${name}`, message });
  }
  return errors.length > 0 ? invalid(errors) : undefined;
}

function mismatch(known: string | undefined, given: string | undefined): Refusal | undefined {
  if (known === undefined || (given ?? undefined) === undefined || known === given) return undefined;
  return refusal(
    'attempt-mismatch',
    'This attempt was sent before with another content: send the next attempt instead.',
  );
}

export function refusal(code: OrderErrorCode, message: string): Refusal {
  return { code, message };
}

export function invalid(errors: Fault[]): Refusal {
  const where = errors.map(({ path, message }) => `${path || 'input'} ${message}`).join('; ');
  return { code: 'invalid-request', message: `The request breaks a rule: ${where}.`, errors };
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** @returns whether it is a moment in ISO 8601 with its offset: without one it would depend on the time zone of the worker */
export function isMoment(value: unknown): boolean {
  return typeof value === 'string' && MOMENT.test(value) && !Number.isNaN(Date.parse(value));
}

export function isText(value: unknown, limit: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= limit;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deeper than any transaction: it can't be handed on. */
const DEEPEST = 64;

/** @returns whether a JSON value nests deeper than `DEEPEST` levels */
function nestsTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > DEEPEST || Object.values(value).some((inner) => nestsTooDeep(inner, depth + 1));
}
