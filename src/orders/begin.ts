/** Begins an effect: what the order remembers of it, and the call with its request. */

import type { Call, LookUpRequest, PortalRequest, ScreenRequest } from './activity-contract.ts';
import { checkoutFailed } from './answer-checkout.ts';
import { actionCause, gatewayCause, statusCause, statusTrouble, wrongKeyKnown } from './attention.ts';
import { hintReadable } from './deadlines.ts';
import { describeDeadline } from './describe.ts';

import { withoutHash } from './ids.ts';
import type { Effect, Order } from './order.ts';
import type { Policy } from './policy.ts';
import { actionNumbered, attemptFor, windowMeant } from './portal.ts';
import { emailOf } from './portal-requests.ts';
import { attemptNumbered, currentAttempt, eventToSend } from './record.ts';
import type { Attempt, OrderState } from './state.ts';
import { knownTransactionIds, lastCall, transactionOf } from './transactions.ts';
import type { Decision } from './words.ts';

/** An effect that failed for good is a fault of ours or a limit of the server's: not to be hammered. */
const PAUSE_MS = 5 * 60_000;

/** @returns the call that the effect means; a write is remembered as begun */
export function begin(order: Order, effect: Effect): Call {
  const { state } = order;
  switch (effect.kind) {
    case 'first-screening': {
      const { asked, wasReset } = order;
      return {
        kind: effect.kind,
        request: {
          ...screenRequest(order),
          ...asked,
          wasReset,
          ...(state.adopted !== undefined && { adopt: state.adopted }),
        },
      };
    }
    case 'policy':
      return { kind: effect.kind, request: { ...screenRequest(order), ...order.asked } };
    case 'retry-screening':
      return { kind: effect.kind, request: { ...screenRequest(order), ...ofAReset(order) } };
    case 'catch-up':
      return beginCatchUp(order);
    case 'look':
      return { kind: effect.kind, request: { ...aboutNewest(order), ...transactionToLookAt(order) } };
    case 'read': {
      const { id: transactionId = '' } = transactionOf(state, currentAttempt(state)) ?? {};
      const forbiddenKnown = wrongKeyKnown(state, statusCause(transactionId));
      return { kind: effect.kind, request: { ...aboutNewest(order), transactionId, forbiddenKnown } };
    }
    case 'poll':
      return { kind: effect.kind, request: pollRequest(state) };
    case 'look-up':
      return { kind: effect.kind, request: lookUpRequest(order, attemptNumbered(state, effect.attempt)) };
    case 'gateway':
      return { kind: effect.kind, request: gatewayRequest(state, attemptNumbered(state, effect.attempt)) };
    case 'portal':
      return beginPortalAction(order, effect.action);
    case 'deliver':
      return {
        kind: effect.kind,
        events: order.outbox
          .filter(({ sequence }) => sequence <= effect.upTo)
          .map((event) => eventToSend(state, event)),
      };
    case 'forget-card': {
      const { cardRef = '', number } = attemptNumbered(state, effect.attempt);
      return { kind: effect.kind, request: { cardRef, attempt: number } };
    }
    case 'timer':
      return { kind: effect.kind, at: effect.at, summary: describeDeadline(effect.deadline) };
    case 'pause':
      return { kind: effect.kind, ms: PAUSE_MS, summary: 'Try again after a failure' };
  }
}

/** From its begin on it may send a create at any time, whatever becomes of it. */
function beginCatchUp(order: Order): Call {
  const { state, now } = order;
  const attempt = currentAttempt(state);
  const request = screenRequest(order);
  const { invoiceNumber } = request;
  attempt.unseen ??= { invoiceNumber, since: now };
  const forbiddenKnown = wrongKeyKnown(state, { operation: 'create' });
  const mayBeSkipped = checkoutFailed(attempt) && { mayBeSkipped: true as const };
  return { kind: 'catch-up', request: { ...request, ...ofAReset(order), forbiddenKnown, ...mayBeSkipped } };
}

function beginPortalAction(order: Order, number: number): Call {
  const { state } = order;
  const record = actionNumbered(state, number);
  const fields = order.fields[number];
  if (fields === undefined) throw new TypeError(`portal action ${number} has nothing to send`);
  record.status = 'running';
  const { transactionId } = record;
  const attempt = attemptFor(state, transactionId);
  const cancelBy =
    record.kind === 'cancel' && attempt !== undefined
      ? windowMeant(state, attempt, transactionId)
      : undefined;
  const request: Omit<PortalRequest, 'runId'> = {
    integration: state.integration,
    fields,
    forbiddenKnown: wrongKeyKnown(state, actionCause(record)),
    ...((order.wasReset || record.maybeSent === true) && { maybeDone: true }),
    ...(attempt !== undefined && { attempt: attempt.number }),
    ...(transactionId !== undefined && { transactionId }),
    ...(record.kind === 'customer-code' && { email: emailOf(order) }),
    ...(cancelBy !== undefined && { notAfter: lastCall(cancelBy, policyOf(state).cancelWindowMs) }),
  };
  return { kind: 'portal', request };
}

/** The request for a try at a decision of the newest attempt. */
function screenRequest(order: Order): ScreenRequest {
  const { state } = order;
  const attempt = currentAttempt(state);
  const transaction = transactionOf(state, attempt);
  const undecided = transaction?.decision === undefined ? transaction : undefined;
  // What became of the create before is found out first, by the number that it was sent with.
  const kept = attempt.unseen?.invoiceNumber ?? undecided?.invoiceNumber;
  const invoiceNumber = kept ?? invoiceNumberNow(order, attempt);
  attempt.invoiceNumber = invoiceNumber;
  // After a reset, the previous run may have sent a create that this one knows nothing of.
  const since =
    attempt.unseen?.since ?? undecided?.sentFrom ?? (order.wasReset ? state.startedAt : undefined);
  return {
    ...aboutNewest(order),
    orderId: state.orderId,
    transaction: order.transactions[attempt.number] ?? {},
    invoiceNumber,
    knownTransactionIds: knownTransactionIds(state),
    startedAt: state.startedAt,
    ...(since !== undefined && { unseenSince: since }),
    ...(state.policy !== undefined && { workflow: state.policy.workflow }),
    ...(attempt.cardRef !== undefined && { cardRef: attempt.cardRef }),
    ...(attempt.fingerprint === undefined &&
      state.adopted === undefined && { fingerprintMissing: true as const }),
  };
}

function aboutNewest({ state }: Order): { integration: string; attempt: number } {
  return { integration: state.integration, attempt: currentAttempt(state).number };
}

/** @returns the transaction that a look is to read; none when only the time is wanted */
export function transactionToLookAt({ state, look }: Order): { transactionId?: string } {
  const { id: transactionId } = transactionOf(state, currentAttempt(state)) ?? {};
  const read = hintReadable(state) || look.because !== undefined || (look.recheck && !screensAgain(state));
  if (!read || transactionId === undefined || state.phase === 'screening' || state.phase === 'canceled') {
    return {};
  }
  return { transactionId };
}

/** @returns whether a recheck screens the order again, since its decision is `error` to the end */
export function screensAgain({ phase, decision, action }: OrderState): boolean {
  return phase === 'decided' && decision === 'error' && action !== 'cancel';
}

function pollRequest(state: OrderState): Extract<Call, { kind: 'poll' }>['request'] {
  const attempt = currentAttempt(state);
  const { id: transactionId = '', cancelBy } = transactionOf(state, attempt) ?? {};
  return {
    integration: state.integration,
    transactionId,
    attempt: attempt.number,
    known: serviceDecision(state),
    pauses: policyOf(state).poll,
    ...statusTrouble(state, transactionId),
    ...(cancelBy !== undefined && { cancelBy }),
  };
}

function lookUpRequest(order: Order, attempt: Attempt): LookUpRequest {
  const { state } = order;
  return {
    integration: state.integration,
    attempt: attempt.number,
    invoiceNumber: attempt.unseen?.invoiceNumber ?? state.orderId,
    knownTransactionIds: knownTransactionIds(state),
    forbiddenKnown: wrongKeyKnown(state, { operation: 'lookup' }),
    ...ofAReset(order),
  };
}

function ofAReset({ wasReset }: Order): { wasReset?: true } {
  return wasReset ? { wasReset } : {};
}

function gatewayRequest(state: OrderState, attempt: Attempt): Extract<Call, { kind: 'gateway' }>['request'] {
  const { gateway, number } = attempt;
  const { id: transactionId } = transactionOf(state, attempt) ?? {};
  if (gateway === undefined || transactionId === undefined) throw new TypeError('no gateway result to send');
  return {
    integration: state.integration,
    transactionId,
    attempt: number,
    gateway: {
      result: gateway.result,
      ...(gateway.authcode !== undefined && { authcode: gateway.authcode }),
      ...(gateway.transactionId !== undefined && { transactionId: gateway.transactionId }),
    },
    forbiddenKnown: wrongKeyKnown(state, gatewayCause(transactionId)),
  };
}

/** @returns the invoice number of the attempt's newest create */
function invoiceNumberNow({ state, transactions }: Order, attempt: Attempt): string {
  const info = (transactions[attempt.number] ?? transactions[currentAttempt(state).number])?.order;
  const own =
    typeof info === 'object' && info !== null && 'invoiceNumber' in info ? info.invoiceNumber : undefined;
  const perAttempt = state.policy?.invoicePerAttempt === true;
  const earlier = state.attempts.filter((one) => one.number < attempt.number);
  const used = [...state.transactions, ...earlier].map((one) => one.invoiceNumber);
  const numbered = (create: number) =>
    invoiceNumberOf(state.orderId, own, { attempt: attempt.number, create }, perAttempt);
  let create = 1;
  // After a reset it is the number of a create that the attempt has forgotten: so that one is found.
  while (perAttempt && used.includes(numbered(create))) create += 1;
  return numbered(create);
}

const LONGEST_INVOICE = 64;
/** The separator that no shop uses in its order numbers. */
const SEPARATOR = '~';

/**
 * Returns the invoice number of a create, at most 64 characters: the order id unless the transaction names one. With `perAttempt`
 * a lost answer can be looked up, because each create has its own number: attempt 2 has `<invoice>~2`, and its first rescreen
 * `<invoice>~2.2`. A rescreen that a reset made the order forget never has the number of another attempt.
 *
 * @param own the invoice number that the transaction names, if it names one
 * @param which the attempt, and its create (the first screening, then its rescreens), both counted from 1
 */
export function invoiceNumberOf(
  orderId: string,
  own: unknown,
  { attempt, create }: { attempt: number; create: number },
  perAttempt: boolean,
): string {
  const invoice = withoutHash(typeof own === 'string' && own !== '' ? own : orderId);
  const suffix = perAttempt ? suffixOf(attempt, create) : '';
  // A number that already ends like one of ours gets a suffix from the first create on: it is not a later create of another order.
  return cutTo(invoice, suffix === '' && /~\d+(?:\.\d+)?$/.test(invoice) ? `${SEPARATOR}1` : suffix);
}

function suffixOf(attempt: number, create: number): string {
  if (create > 1) return `${SEPARATOR}${attempt}.${create}`;
  return attempt > 1 ? `${SEPARATOR}${attempt}` : '';
}

function cutTo(invoice: string, suffix: string): string {
  if (invoice.length + suffix.length <= LONGEST_INVOICE) return invoice + suffix;
  const mark = `${SEPARATOR}${hashOf(invoice)}`;
  // Half a character at the cut would survive in no address.
  const cut = invoice.slice(0, LONGEST_INVOICE - mark.length - suffix.length).replace(/[\uD800-\uDBFF]$/, '');
  return cut + mark + suffix;
}

/** Tells numbers apart that are cut to the same beginning (FNV-1a). @returns eight hexadecimal digits */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

function serviceDecision({ decision }: OrderState): Decision {
  if (decision === 'pending' || decision === 'skipped')
    throw new TypeError(`an order that is ${decision} wants no poll`);
  return decision;
}

function policyOf({ policy }: OrderState): Policy {
  if (policy === undefined) throw new TypeError('the policy is not known yet');
  return policy;
}
