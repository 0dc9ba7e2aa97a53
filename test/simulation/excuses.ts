/** What the chaos run's oracle holds against an order, and can't know: a life has more kinds of trouble than a chaos run. */
import type { Attempt, OrderState } from '../../src/orders/state.ts';
import type { Finding } from '../chaos/verdict.ts';
import type { Happening, Operation } from './happenings.ts';
import type { OrderWorld } from './order-world.ts';
import type { Entry } from './service.ts';

const DAY = 24 * 3_600_000;

/** What was told and done after the task that an order was reset to is no part of its life. */
const AFTER_RESET = new Set<Finding['kind']>([
  'event wrong',
  'event lost',
  'event out of order',
  'contradicting answers',
  'wrong decision',
  'wrong action',
  'transaction unaccounted for',
  'portal action not on record',
  'gateway result lost',
  'cancel sent late',
]);

/** @returns whether the finding is none */
export function isExcused(
  { wasReset, world }: OrderWorld,
  state: OrderState,
  kind: Finding['kind'],
  facts: string,
): boolean {
  const { life, service } = world;
  if (wasReset && AFTER_RESET.has(kind)) return true;
  // A service that commits later than a look waits for can't be told apart from one that never will.
  const tooLate = happened(
    life.happenings,
    (one) =>
      one.do === 'fault' &&
      one.operation === 'create-transaction' &&
      one.fault.includes('late') &&
      one.ms > 9_000,
  );
  if (tooLate && (kind === 'transaction created twice' || kind === 'transaction unaccounted for'))
    return true;
  switch (kind) {
    case 'chargeback sent twice':
      return happened(
        life.happenings,
        (one) => one.do === 'portal' && one.kind === 'chargeback' && one.force,
      );
    case 'wrong decision':
      // The service's «error» replaces no decision.
      if (facts.includes('the service says error')) return true;
      // Skip rules are the first screening's.
      if (facts.includes('skipped by plan')) {
        return state.attempts.length > 1 || happened(life.happenings, (one) => one.do === 'break-down');
      }
      // A rescreen may decide otherwise than the attempt's first create.
      return facts.includes('is not of attempt');
    case 'transaction unaccounted for':
      // A cancel that names its transaction waits for no look-up: what a create under way leaves is not looked for.
      return (
        state.attempts.at(-1)?.createOpen === true &&
        happened(
          life.happenings,
          (one) => one.do === 'portal' && one.kind === 'cancel' && one.named !== 'none',
        )
      );
    case 'event lost':
    case 'event out of order':
    case 'event wrong':
      // A gateway that declined before the checkout was answered ended the attempt.
      if (facts.includes('no order.decided') && state.attempts.some(heardEarly)) return true;
      // After three days they are given up.
      return happened(life.happenings, (one) => one.do === 'receiver-down' && one.ms > 2 * DAY);
    case 'wrong action':
      // Nobody goes to the gateway before the checkout's answer: a result that came first has changed the action by then.
      if (state.attempts.some(heardEarly)) return true;
      // What has the same moment as a person's decision came before it or after it.
      if (besideOverride(state)) return true;
      // What a look-up found when the order was over changes nothing any more.
      if (state.attempts.at(-1)?.readings.at(-1)?.source === 'look-up') return true;
      // A cancel that ends after the review was given up counts.
      return (
        state.passed.includes('review-limit') &&
        state.actions.some((one) => one.kind === 'cancel' && one.finishedAt !== undefined)
      );
    case 'cancel missing':
      // It became a cancel in the last stretch, and the window closed while the order was being read: attention says the one or the other.
      if (facts.includes('nobody was told')) {
        // Whoever was told may have acknowledged it.
        const seen = happened(life.happenings, (one) => one.do === 'acknowledge');
        return seen || world.away.length > 0;
      }
      // Nobody begins a cancel before the timer rings that asks for it.
      if (happened(life.happenings, (one) => one.do === 'late-timer') && facts.startsWith('too-late'))
        return true;
      // A worker's clock that is fast is at the last call before the order is.
      if (happened(life.happenings, (one) => one.do === 'skew') && facts.startsWith('too-late')) return true;
      // A person had it stopped while it was being sent.
      if (state.actions.some((one) => one.kind === 'cancel' && one.stop === 'withdrawn')) return true;
      // What a look-up found when it was too late can't be canceled any more.
      if (
        state.attempts.at(-1)?.readings.at(-1)?.source === 'look-up' &&
        state.actions.some((one) => one.kind === 'cancel' && one.status === 'too-late')
      ) {
        return true;
      }
      // A look-up for what a rescreening may have left takes ten seconds, which a short window may not have any more.
      if (state.attempts.at(-1)?.lookedUp === true && facts.startsWith('too-late')) return true;
      // The timer or the task for it came late.
      if (facts.startsWith('too-late') && world.liberties.delays) return true;
      // One that waited to its last call for a look-up had no transaction to name.
      return state.actions.some(
        (one) => one.kind === 'cancel' && one.status === 'too-late' && one.transactionId === undefined,
      );
    case 'cancel refused in the window':
      // A worker's clock that is fast is at the last call before the others; another attempt's window is another.
      return state.attempts.length > 1 || happened(life.happenings, (one) => one.do === 'skew');
    case 'portal action not on record':
      // The service put it off, and it was taken back before it was sent again.
      return (
        facts.includes('and the service was called') &&
        !service.ledger.some((entry) => entry.operation === operationNamed(facts) && mayBeDone(entry))
      );
    case 'contradicting answers':
      // An analyst changed it between an answer that was told and its record, which was lost.
      return life.start === 'fast' && service.transactions.some(({ decisions }) => decisions.length > 1);
    default:
      return false;
  }
}

function besideOverride({ attempts, actions }: OrderState): boolean {
  const { override, gateway } = attempts.at(-1) ?? {};
  if (override === undefined) return false;
  return gateway?.at === override.at || actions.some(({ finishedAt }) => finishedAt === override.at);
}

/** Its gateway result came before its checkout was answered. */
function heardEarly({ gateway, readings }: Attempt): boolean {
  return gateway !== undefined && readings.every(({ at }) => at >= gateway.at);
}

function mayBeDone({ committed, fault, status }: Entry): boolean {
  // A request that was only slow was refused by the key.
  if (!committed && status === 403) return false;
  return committed || (fault !== '429' && fault !== '403' && fault !== 'wrong-key' && fault !== 'outage');
}

/** The finding begins with the action's kind. */
function operationNamed(facts: string): Operation {
  if (facts.startsWith('cancel')) return 'cancel-transaction';
  if (facts.startsWith('report-fraud')) return 'report-fraud';
  return facts.startsWith('chargeback') ? 'submit-chargeback' : 'customer-code';
}

function happened(happenings: readonly Happening[], is: (one: Happening) => boolean): boolean {
  return happenings.some(is);
}
