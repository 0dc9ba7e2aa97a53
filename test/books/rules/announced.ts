/** Does an event announce each decision that the order service did not learn from the answer at checkout? */
import { answersTo, reportsOf } from '../asked.ts';
import { type Books, type Finding, finding, isDecided } from '../books.ts';
import { downForThreeDays, wasReset } from '../facts.ts';

const ANNOUNCING = ['order.decided', 'order.review_resolved', 'order.decision_changed'];
const FINAL = ['decline', 'cancel'];

export function announced(books: Books): Finding[] {
  const { policy, world, record, arrivals } = books;
  if (policy.events === false || wasReset(books) || downForThreeDays(books) || world.recordLost) return [];
  const known = knownFromAnswers(books);
  // With `events: changes` an answer that was lost on its way is not announced.
  const mayTell = (attempt = 1): boolean => policy.events === 'all' || known.get(attempt) !== undefined;
  // A transaction that turns up after a decline or a cancel is recorded without an event.
  const declined = reportsOf(books).filter(({ result }) => result === 'fail');
  const final = new Set<number | undefined>(declined.map(({ attempt }) => attempt));
  const found: Finding[] = [];
  for (const { sequence, type, data } of inTurn(arrivals)) {
    const { decision, attempt, action = '', afterClose } = data;
    if (afterClose) continue;
    const wasFinal = final.has(attempt);
    if (FINAL.includes(action)) final.add(attempt);
    if (!isDecided(decision)) continue;
    const isNew = mayTell(attempt) && decision !== known.get(attempt) && !wasFinal;
    if (isNew && !ANNOUNCING.includes(type)) {
      const facts = `${sequence} ${type} of attempt ${attempt} shows ${decision} after ${known.get(attempt)}`;
      found.push(...finding('event missing', `${facts}, which no event announced`));
    }
    known.set(attempt, decision);
  }
  const last = known.get(record.attempts);
  if (
    isDecided(record.decision) &&
    mayTell(record.attempts) &&
    record.decision !== last &&
    !final.has(record.attempts)
  )
    found.push(...finding('event missing', `the record shows ${record.decision} after ${last}`));
  return found;
}

/** Returns the decision that the caller of each attempt was told. With `events: all` each one is announced all the same. */
function knownFromAnswers(books: Books): Map<number | undefined, string | undefined> {
  if (books.policy.events === 'all') return new Map();
  return new Map(books.attempts.map(({ number }) => [number, answersTo(books, number)[0]?.answer.decision]));
}

function inTurn(arrivals: Books['arrivals']): Books['arrivals'][number]['event'][] {
  const bySequence = new Map(arrivals.map(({ event }) => [event.sequence, event]));
  return [...bySequence.values()].sort((a, b) => a.sequence - b.sequence);
}
