/** Is every answer the attempt's own transaction's, and its action what the policy makes of that decision? */
import type { Action, OrderDecision } from '../../../src/contract/words.ts';
import {
  answersTo,
  attemptAsked,
  type BookedCheckoutAnswer,
  firstFor,
  isOverride,
  portalAsked,
} from '../asked.ts';
import {
  type BookedRequest,
  type Books,
  createsOf,
  type Finding,
  finding,
  foundNone,
  iso,
  type SentAttempt,
  transactionOf,
  wasTold,
} from '../books.ts';
import { mayBeOlder, noWorker, takenBack, wasLate, wasReset } from '../facts.ts';
import { ARRIVES_WITHIN_MS } from './creates.ts';

/** Between an answer that the product heard and the answer that it gave. */
const HANDED_ON_MS = 3_000;

const UNDECIDED: OrderDecision[] = ['pending', 'error'];

type Given = ReturnType<typeof answersTo>[number];

export function answers(books: Books): Finding[] {
  return books.attempts.flatMap((sent) => {
    const given = answersTo(books, sent.number);
    const found = [
      ...skipped(books, sent, given),
      ...given.filter((one) => !isDeclineAgain(one, given[0])).flatMap((one) => ownDecision(books, one)),
      ...given.slice(0, 1).flatMap((one) => meantAction(books, one)),
    ];
    return wasReset(books)
      ? found
      : [...found, ...contradictions(books, given), ...replaced(books, sent.number, given)];
  });
}

/** An attempt that a later one has replaced doesn't become `proceed`, unless a person decided so: both payments would be taken. */
function replaced({ calls, policy }: Books, number: number, given: readonly Given[]): Finding[] {
  const next = calls.find((one) => one.checkout !== undefined && one.checkout.attempt > number);
  const before = given.findLast(({ at }) => next !== undefined && at <= next.sentAt)?.answer.action;
  if (next === undefined || before === undefined || before === 'proceed') return [];
  if (policy.passive || calls.some(isOverride)) return [];
  const wrong = given.find(({ answer, sentAt }) => answer.action === 'proceed' && sentAt >= next.at);
  if (wrong === undefined) return [];
  return finding('contradiction', `attempt ${number} was told ${before}, and proceed after the next attempt`);
}

/** A decline is final: what became known since doesn't change what the attempt is told. */
function isDeclineAgain({ answer }: Given, first: Given | undefined): boolean {
  return (
    first !== undefined &&
    first.answer !== answer &&
    first.answer.action === 'decline' &&
    answer.action === 'decline'
  );
}

/** An attempt that a skip rule matches is answered skipped, unless no worker took it in time, and creates nothing; others are not. */
function skipped(books: Books, { number, skip }: SentAttempt, given: readonly Given[]): Finding[] {
  if (books.adoptedFrom !== undefined || books.world.brokeDown) return [];
  const late = (decision: OrderDecision) => number > 1 && UNDECIDED.includes(decision) && wasLate(books);
  const wrong = given.find(
    ({ answer: { decision } }) => (decision === 'skipped') !== skip && !late(decision),
  );
  const created = createsOf(books, number).length > 0;
  if (wrong !== undefined) {
    return finding(
      'skip rule',
      `attempt ${number} was answered ${wrong.answer.decision}, skip rule: ${skip}`,
    );
  }
  return skip && created
    ? finding('skip rule', `attempt ${number} was sent, though a skip rule matches`)
    : [];
}

function ownDecision(books: Books, { answer, at, sentAt }: Given): Finding[] {
  const { attempt, decision, transactionId, reason } = answer;
  const wrong = (facts: string) => finding('answer', `attempt ${attempt} at ${iso(at)}: ${facts}`);
  if (decision === 'skipped') return [];
  const transaction = transactionOf(books, transactionId);
  if (transactionId !== undefined && transaction === undefined)
    return wrong(`${transactionId} does not exist`);
  const isOlder = wasReset(books) && mayBeOlder(books, attempt);
  if (transaction !== undefined && transaction.attempt !== attempt && !isOlder) {
    return wrong(
      `${decision} → ${answer.action} with ${transactionId}, which is attempt ${transaction.attempt}'s`,
    );
  }
  if (decision === 'pending')
    return unanswered(books, answer, at, sentAt) ? [] : wrong('pending, though heard');
  if (decision === 'error') {
    return hasReason(books, attempt, at) ? [] : wrong(`error (${reason}) without a reason in the books`);
  }
  if (transaction === undefined) return wrong(`${decision} without a transaction`);
  return wasTold(books, transaction.id, decision, at)
    ? []
    : wrong(`${decision}, which ${transactionId} never was`);
}

/** Nothing that can be used was heard: by then, or for a decline, which is final, in the caller's time. */
function unanswered(
  books: Books,
  { attempt, action }: BookedCheckoutAnswer,
  at: number,
  sentAt: number,
): boolean {
  if (wasLate(books) || wasReset(books) || books.world.brokeDown) return true;
  const own = new Set(books.transactions.filter((one) => one.attempt === attempt).map(({ id }) => id));
  const inTime = Math.min(answerBy(books, attempt) ?? at, beganAt(books, attempt) + books.checkoutBudgetMs);
  const [created] = createsOf(books, attempt);
  // A decline is settled when the first create ends, if nobody was waiting then.
  const wasAsked = books.calls.some(
    (one) => attemptAsked(one) === attempt && one.sentAt <= (created?.endedAt ?? at),
  );
  const declinedBy = wasAsked ? inTime : Math.min(inTime, created?.endedAt ?? inTime);
  // A caller is answered within its budget: afterwards the answer is only on its way.
  const settledBy = Math.min(at, sentAt + books.checkoutBudgetMs);
  const until = action === 'decline' ? Math.min(at, declinedBy) : settledBy;
  return !books.requests.some(
    (one) =>
      one.heard === 'transaction' &&
      one.decision !== 'error' &&
      own.has(one.transactionId ?? '') &&
      !mayBeAnothers(books, attempt, one) &&
      one.endedAt < until - HANDED_ON_MS,
  );
}

/**
 * A lookup by a shared number doesn't say whose the transaction is while it is unknown what the create of a different attempt did: until the
 * create is answered, or a lookup that follows it in time finds none.
 */
function mayBeAnothers({ requests }: Books, attempt: number, found: BookedRequest): boolean {
  const { operation, invoice, sentAt, endedAt } = found;
  const about = requests.filter((one) => one.invoice === invoice && one.sentAt <= endedAt);
  const isOpen = (create: BookedRequest): boolean =>
    (create.heard === 'unknown' || create.heard === undefined || create.endedAt > endedAt) &&
    !about.some(
      (one) => foundNone(one) && one.sentAt >= create.endedAt + ARRIVES_WITHIN_MS && one.endedAt <= sentAt,
    );
  const others = about.filter(({ attempt: other = attempt }) => other !== attempt);
  return operation === 'status-by-invoice' && others.some(isOpen);
}

/** The screening service said so, refused it, could not be understood, or the time or the card was over. */
function hasReason({ requests, policy, attempts, startedAt }: Books, attempt: number, at: number): boolean {
  const heard = requests.some(
    (one) =>
      one.endedAt <= at &&
      (one.decision === 'error' || one.heard === 'refused' || one.heard === 'unreadable') &&
      (one.operation !== 'create-transaction' || one.attempt === attempt),
  );
  return heard || attempts[attempt - 1]?.card === true || at - startedAt >= policy.screeningDeadlineMs;
}

/** An answer in time follows the table; a later one has the action of then, and an adopted order's fail is left to a person. */
function meantAction(books: Books, given: Given): Finding[] {
  const { policy, adoptedFrom } = books;
  const { decision, action, wouldBe, attempt } = given.answer;
  if (adoptedFrom !== undefined || books.world.brokeDown || !isPrompt(books, given)) return [];
  const meant = atCheckout(decision, policy);
  const said = policy.passive ? wouldBe : action;
  // Whoever asks after a reset was answered before. A further attempt whose screening ended without a result doesn't know its policy.
  const isUnknown = attempt > 1 && (books.world.endedByHand || wasLate(books));
  if ((wasReset(books) || isUnknown) && decision === 'pending' && said === 'hold') return [];
  // A cancel that is under way decides first.
  const isCanceling = books.calls.some(
    (one) => portalAsked(one)?.kind === 'cancel' && one.sentAt < given.at && one.at > given.sentAt,
  );
  if (isCanceling && meant === 'proceed' && said === 'hold') return [];
  if (said === meant && (!policy.passive || action === 'proceed')) return [];
  return finding('answer', `attempt ${attempt} was told ${said} for ${decision}, not ${meant}`);
}

const LEAST_CHECKOUT_TIME_MS = 50;

/** Nothing but the screening can have changed what the attempt is told. */
function isPrompt(books: Books, { answer: { attempt, decision }, at, sentAt }: Given): boolean {
  // A cancel that came too late says `cancel` all the same.
  const others = books.calls.some(
    (one) =>
      (one.refusal === undefined || one.refusal === 'cancel-window-closed') &&
      one.sentAt <= at &&
      ['override', 'gateway-result', 'portal'].includes(one.kind),
  );
  const [created, later] = createsOf(books, attempt);
  // After a second create, or one that told nothing in the first caller's time, the decision is not the checkout's own.
  const until = answerBy(books, attempt);
  // A checkout with less time left sends no create, so the catch-up sent it.
  const isOwn =
    until === undefined || created === undefined || created.sentAt <= until - LEAST_CHECKOUT_TIME_MS;
  const inTime = created === undefined || (isOwn && created.endedAt <= (until ?? at));
  const told = created === undefined || (created.heard === 'transaction' && inTime) || decision === 'pending';
  const waited = told && sentAt <= (created?.endedAt ?? at) && (later === undefined || later.sentAt > at);
  return waited && at <= beganAt(books, attempt) + books.checkoutBudgetMs && !others;
}

/** Only the first checkout ends when its caller stops waiting: a further attempt has its whole budget. */
function answerBy(books: Books, attempt: number): number | undefined {
  return attempt === 1 ? books.answerBy : undefined;
}

function beganAt(books: Books, attempt: number): number {
  const { startedAt } = books;
  return attempt === 1 ? startedAt : (firstFor(books, attempt)?.sentAt ?? startedAt);
}

function atCheckout(
  decision: OrderDecision,
  { workflow, reviewBeforeGateway, whenUnavailable }: Books['policy'],
): Action {
  const after = workflow === 'post-acceptance';
  switch (decision) {
    case 'pass':
    case 'skipped':
      return 'proceed';
    case 'review':
      return workflow === 'pre-gateway' ? reviewBeforeGateway : 'hold';
    case 'fail':
    case 'fraudulent':
      return after ? 'cancel' : 'decline';
    case 'error':
    case 'pending':
      return after && whenUnavailable === 'decline' ? 'hold' : whenUnavailable;
  }
}

/** A call gets the answer that was given before it was sent; a pending may become the decision, unless it was a decline. */
function contradictions(books: Books, given: readonly Given[]): Finding[] {
  const [first] = given;
  if (first === undefined || books.world.recordLost) return [];
  const prompt = first.answer.decision !== 'pending' && isPrompt(books, first);
  const inShort = ({ decision, action, transactionId }: BookedCheckoutAnswer): string =>
    `${decision}${prompt ? ` → ${action}` : ''}${decision === 'error' ? '' : ` (${transactionId})`}`;
  const recorded = given.filter(({ answer, at }) => answer.decision !== 'pending' || !noWorker(books, at));
  for (const { answer, at, sentAt } of recorded) {
    const before = recorded.findLast((one) => one.at <= sentAt)?.answer;
    if (before === undefined) continue;
    const final = before.action === 'decline' && books.policy.whenUnavailable === 'decline';
    const free = before.decision === 'pending' && !final;
    if (!free && inShort(before) !== inShort(answer) && !takenBack(books, at)) {
      return finding(
        'contradiction',
        `attempt ${answer.attempt}: ${inShort(before)}, then ${inShort(answer)}`,
      );
    }
  }
  return [];
}
