/** Checks of what callers send to an order straight through Temporal, where no schema stands before it. Pure, no zod. */
import { isOver } from './deadlines.ts';
import type { Fault, OrderErrorCode } from './errors.ts';
import { DEFAULT_INTEGRATION, orderWorkflowId } from './ids.ts';
import type {
  DecisionRequest,
  PortalActionInput,
  PortalFields,
  RetryRequest,
  ScreenOrderInput,
  WithdrawRequest,
} from './messages.ts';
import type { Refusal } from './order.ts';
import { currentAttempt } from './record.ts';
import { isUnderWay } from './same-action.ts';
import type { OrderState } from './state.ts';
import { INTEGRATION_WORKFLOWS, PORTAL_ACTIONS } from './words.ts';

const TEXT_LIMIT = 1_000;
const MOST_ATTEMPTS = 20;
const PLAIN_TEXT = `must be a non-empty string of at most ${TEXT_LIMIT} characters`;

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
    fault('answerBy', 'must be a moment in ISO 8601');
  }
  if (input.resume !== undefined && !continued) fault('resume', 'must not be given');
  if (errors.length > 0) return invalid(errors);
  const { resume: _own, ...given } = input;
  const forbidden = cardDataRefusal(given, '');
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
export function decisionRefusal(order: OrderState, request: DecisionRequest): Refusal | undefined {
  const attempt = order.attempts.find((one) => one.number === request?.attempt);
  if (attempt === undefined) return refusal('unknown-attempt', 'The order has no such attempt.');
  return mismatch(attempt.fingerprint, request.fingerprint);
}

/** @returns why the `retry` update isn't taken, or undefined: it is */
export function retryRefusal(order: OrderState, request: RetryRequest, nowMs: number): Refusal | undefined {
  if (!isRecord(request) || !Number.isInteger(request.attempt) || !isRecord(request.transaction)) {
    return invalid([{ path: '', message: 'must be {attempt, transaction, cardRef?, fingerprint?}' }]);
  }
  const forbidden = cardDataRefusal(request, '');
  if (forbidden !== undefined) return forbidden;
  const made = order.attempts.find((one) => one.number === request.attempt);
  if (made !== undefined) return mismatch(made.fingerprint, request.fingerprint);
  if (order.phase === 'canceled' || isOver(order, nowMs)) {
    return refusal('order-closed', 'The order is closed: it takes no other attempt.');
  }
  if (request.attempt > MOST_ATTEMPTS) {
    return refusal('too-many-attempts', `An order has at most ${MOST_ATTEMPTS} attempts.`);
  }
  const open = order.phase === 'declined' || (order.phase === 'decided' && order.decision === 'error');
  const ready = open && currentAttempt(order).answer !== undefined && !order.cancelAsked;
  if (!ready || request.attempt !== order.attempts.length + 1) {
    return refusal(
      'retry-out-of-turn',
      'The order takes another attempt when it is declined or its decision is «error», numbered one after the last.',
    );
  }
  return undefined;
}

/** @returns why the `acknowledge` update isn't taken, or undefined: it is */
export function acknowledgeRefusal(
  order: OrderState,
  request: { reason: string },
  nowMs: number,
): Refusal | undefined {
  if (!isRecord(request) || !isText(request.reason, TEXT_LIMIT)) {
    return invalid([{ path: 'reason', message: 'must be a non-empty string' }]);
  }
  return isOver(order, nowMs)
    ? refusal('order-closed', 'The order is closed: its record stays as it is.')
    : undefined;
}

/** @returns why the `withdraw` update isn't taken, or undefined: it is */
export function withdrawRefusal(order: OrderState, request: WithdrawRequest): Refusal | undefined {
  if (!isRecord(request) || !Number.isInteger(request.number)) {
    return invalid([{ path: 'number', message: 'must be the number of a portal action' }]);
  }
  const record = order.actions[request.number - 1];
  if (record === undefined)
    return refusal('unknown-action', 'The order has no portal action of that number.');
  if (isUnderWay(record) || record.status === 'withdrawn') return undefined;
  return refusal('action-ended', `The portal action has ended: it is ${record.status}.`);
}

/** @returns why `portalAction` can't be started with this input, or undefined: it can */
export function portalInputRefusal(input: PortalActionInput): Refusal | undefined {
  if (!isRecord(input) || !isRecord(input.fields)) {
    return invalid([{ path: '', message: 'must be {integration, fields, transactionId?, orderId?, …}' }]);
  }
  const { integration, orderId, transactionId, fields, cancelBy, cancelWindowMs } = input;
  const errors: Fault[] = [];
  if (!PORTAL_ACTIONS.includes(fields.kind)) {
    errors.push({ path: 'fields.kind', message: `must be one of ${PORTAL_ACTIONS.join(', ')}` });
  }
  for (const [path, value] of Object.entries({ integration, orderId, transactionId })) {
    if (value !== undefined && !isText(value, TEXT_LIMIT)) errors.push({ path, message: 'must be a string' });
  }
  if (cancelBy !== undefined && !isMoment(cancelBy)) {
    errors.push({ path: 'cancelBy', message: 'must be a moment in ISO 8601' });
  }
  if (cancelWindowMs !== undefined && !Number.isFinite(cancelWindowMs)) {
    errors.push({ path: 'cancelWindowMs', message: 'must be a number of milliseconds' });
  }
  if (fields.kind === 'customer-code' && fields.email === undefined) {
    errors.push({ path: 'fields.email', message: 'is required: no order is there to take it from' });
  }
  return errors.length > 0 ? invalid(errors) : portalFieldsRefusal(fields);
}

/** @returns why the message of a portal action can't be read at all; without an argument it means the newest transaction */
export function portalRequestRefusal(request: unknown): Refusal | undefined {
  if (request === undefined || isRecord(request)) return undefined;
  return invalid([{ path: '', message: 'must be an object' }]);
}

/** @returns why a portal action can't be read, or undefined: it can */
export function portalFieldsRefusal(fields: PortalFields): Refusal | undefined {
  const errors: Fault[] = [];
  const needed: string[] =
    fields.kind === 'customer-code'
      ? ['customerCode']
      : fields.kind === 'chargeback'
        ? ['reason_code', 'due_date']
        : [];
  const values: Record<string, unknown> = { ...fields };
  for (const key of needed) {
    if (!isText(values[key], TEXT_LIMIT)) errors.push({ path: key, message: 'must be a non-empty string' });
  }
  for (const [key, value] of Object.entries(values)) {
    if (needed.includes(key) || key === 'kind' || value === undefined || value === null) continue;
    const fine = key === 'force' ? typeof value === 'boolean' : isText(value, TEXT_LIMIT);
    if (!fine) errors.push({ path: key, message: key === 'force' ? 'must be true or false' : PLAIN_TEXT });
  }
  return errors.length > 0 ? invalid(errors) : undefined;
}

function cardDataRefusal(request: unknown, path: string): Refusal | undefined {
  if (nestsTooDeep(request)) return invalid([{ path: path || 'transaction', message: 'nests too deep' }]);
  const paths = forbiddenFields(request, path);
  if (paths.length === 0) return undefined;
  const errors = paths.map((path) => ({
    path,
    message: 'must not stand here: put the card in the card stash and pass cardRef',
  }));
  return {
    code: 'card-data-in-request',
    message: `Card data or a service key stands in ${paths.join(', ')}.`,
    errors,
  };
}

function mismatch(known: string | undefined, given: string | undefined): Refusal | undefined {
  if (known === undefined || given === undefined || known === given) return undefined;
  return refusal(
    'attempt-mismatch',
    'This attempt was sent before with another content: send the next attempt instead.',
  );
}

function refusal(code: OrderErrorCode, message: string): Refusal {
  return { code, message };
}

function invalid(errors: Fault[]): Refusal {
  const where = errors.map(({ path, message }) => `${path || 'input'} ${message}`).join('; ');
  return { code: 'invalid-request', message: `The request breaks a rule: ${where}.`, errors };
}

function isMoment(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isText(value: unknown, limit: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= limit;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Finds card data and service keys in what a workflow was started with.

const FORBIDDEN = new Set(['cardnumber', 'cardcode', 'expirationdate', 'nftoken']);

/** Deeper than any transaction: what nests further is not looked into, since it can't be handed on either. */
const DEEPEST = 64;

/**
 * Looks through a JSON value.
 * @returns the paths of fields that never may be in Temporal, without any value
 */
export function forbiddenFields(value: unknown, path = 'transaction', depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => forbiddenFields(item, `${path}[${index}]`, depth + 1));
  }
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    const plain = key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    if (FORBIDDEN.has(plain) && inner !== undefined && inner !== null) return [here];
    return forbiddenFields(inner, here, depth + 1);
  });
}

/** @returns whether a JSON value nests deeper than `DEEPEST` levels */
function nestsTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > DEEPEST || Object.values(value).some((inner) => nestsTooDeep(inner, depth + 1));
}
