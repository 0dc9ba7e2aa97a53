/** Does each event say what the books say, once and in order? */
import { millis } from '../../../src/contract/words.ts';
import { attemptAsked, firstFor, isOverride } from '../asked.ts';
import {
  type BookedArrival,
  type Books,
  createsOf,
  type Finding,
  finding,
  heardCanceled,
  isDecided,
  iso,
  transactionOf,
  wasTold,
} from '../books.ts';
import { downForThreeDays, mayBeOlder, reportWasLost, wasReset } from '../facts.ts';

export function events(books: Books): Finding[] {
  const content = books.arrivals.flatMap((one) => said(books, one));
  if (wasReset(books)) return content;
  return [
    ...content,
    ...inOrder(books),
    ...older(books),
    ...lost(books),
    ...untold(books),
    ...ended(books),
    ...finalStays(books),
  ];
}

/** What was declined or is to be canceled stays so: no later event lets that attempt proceed, or holds it, unless a person decides. */
function finalStays(books: Books): Finding[] {
  const decidedByPerson = books.calls.some(isOverride);
  if (books.world.recordLost || decidedByPerson) return [];
  const inTurn = books.arrivals.map(({ event }) => event).sort((a, b) => a.sequence - b.sequence);
  const final = new Map<number | undefined, string>();
  return inTurn.flatMap(({ sequence, data: { action, attempt } }) => {
    if (action === 'decline' || action === 'cancel') final.set(attempt, action);
    const before = final.get(attempt);
    if (before === undefined || (action !== 'proceed' && action !== 'hold')) return [];
    const facts = `${sequence} says ${action} of attempt ${attempt} after ${before}`;
    return finding('event wrong', facts);
  });
}

/** No event says what was read before the last reading that GET had shown by then. */
function older({ arrivals, requests, shown }: Books): Finding[] {
  return arrivals.flatMap(({ event: { data, sequence }, at }) => {
    if (data.transactionId === undefined || !isDecided(data.decision)) return [];
    const heard = requests.filter(
      (one) => one.transactionId === data.transactionId && one.heard === 'transaction' && one.endedAt <= at,
    );
    const readings = heard.filter(({ decision }) => decision === data.decision);
    const first = Math.min(...readings.map(({ endedAt }) => endedAt));
    const last = Math.max(...readings.map(({ arrivedAt = 0 }) => arrivedAt));
    const readAt = shown.findLast((one) => one.at < first)?.readAt ?? 0;
    const newer = heard.find(({ endedAt, arrivedAt = 0 }) => endedAt <= readAt && arrivedAt > last);
    if (newer === undefined) return [];
    const facts = `${sequence} says ${data.decision}, read before ${newer.decision} of ${iso(newer.endedAt)}`;
    return finding('event wrong', facts);
  });
}

function said(books: Books, { event, at }: BookedArrival): Finding[] {
  const { type, sequence, data, id, integration, orderId } = event;
  const wrong = (facts: string) => finding('event wrong', `${sequence} ${type} at ${iso(at)}: ${facts}`);
  const { transactionId, attempt, decision } = data;
  if (id !== `${integration}:${orderId}:${sequence}`) return wrong(`its id is ${id}`);
  const transaction = transactionOf(books, transactionId);
  if (transactionId !== undefined && transaction === undefined)
    return wrong(`${transactionId} does not exist`);
  if (transaction !== undefined && transaction.attempt !== attempt && !mayBeOlder(books, attempt ?? 1)) {
    return wrong(`${transactionId} of attempt ${transaction.attempt} is told of attempt ${attempt}`);
  }
  const decides = isDecided(decision);
  if (decides && transaction === undefined) return wrong(`${decision} without a transaction`);
  if (decides && transaction !== undefined && !wasTold(books, transaction.id, decision, at)) {
    return wrong(`${transactionId} never was ${decision}`);
  }
  if (type !== 'order.canceled' || transaction === undefined) return [];
  return (transaction.canceledAt ?? Number.POSITIVE_INFINITY) <= at
    ? []
    : wrong(`${transactionId} was not canceled`);
}

/** First arrivals count on by one, each after the one before was taken; repeats are the same. */
function inOrder(books: Books): Finding[] {
  const { arrivals, record } = books;
  const firsts = new Map<number, string>();
  const taken = new Set([record.eventsBefore]);
  const found = arrivals.flatMap(({ event, taken: took }) => {
    const { sequence } = event;
    const content = JSON.stringify(event);
    const first = firsts.get(sequence);
    const isEarly = first === undefined && !taken.has(sequence - 1) && !downForThreeDays(books);
    firsts.set(sequence, first ?? content);
    if (took) taken.add(sequence);
    if (isEarly) return finding('event out of order', `${sequence} came before ${sequence - 1} was taken`);
    if ((first ?? content) === content) return [];
    return finding('event wrong', `${sequence} came again with other content`);
  });
  const ids = new Set(arrivals.map(({ event }) => event.id));
  return ids.size === firsts.size ? found : [...found, ...finding('event wrong', 'two events share an id')];
}

/** None is lost, unless the receiver was down for three days. */
function lost(books: Books): Finding[] {
  const { arrivals, record, policy } = books;
  if (policy.events === false) return [];
  // What the screening service decided after the end is no event of the order's own.
  const own = arrivals.filter(({ taken, event }) => taken && event.data.afterClose !== true);
  const taken = new Set(own.map(({ event }) => event.sequence));
  const { events, eventsBefore } = record;
  const sent = Array.from({ length: events - eventsBefore }, (_, index) => eventsBefore + index + 1);
  const missing = downForThreeDays(books) ? [] : sent.filter((sequence) => !taken.has(sequence));
  const more = [...taken].filter((sequence) => sequence > record.events).slice(0, 1);
  return [
    ...missing.flatMap((sequence) => finding('event lost', `${sequence} of ${record.events}`)),
    ...more.flatMap((sequence) => finding('event wrong', `${sequence} is not on record`)),
  ];
}

/** A decision that an attempt's first create returned after its caller stopped waiting, before anything else happened, is sent. */
function untold(books: Books): Finding[] {
  const { arrivals, attempts, calls, policy } = books;
  if (policy.events === false || downForThreeDays(books) || reportWasLost(books)) return [];
  return attempts.flatMap(({ number }) => {
    const [created] = createsOf(books, number);
    if (created === undefined || created.heard !== 'transaction' || !isDecided(created.decision)) return [];
    const { endedAt, decision } = created;
    const others = calls.some(
      (one) => one.sentAt <= endedAt && (attemptAsked(one) ?? Number.POSITIVE_INFINITY) > number,
    );
    const waitsUntil = waitsFor(books, number);
    const isTold = arrivals.some(
      ({ event: { data } }) => data.attempt === number && isDecided(data.decision),
    );
    if (waitsUntil === undefined || endedAt <= waitsUntil || others || isTold) return [];
    return finding('event missing', `${decision} of attempt ${number}, heard at ${iso(endedAt)}`);
  });
}

/** @returns until when the first caller of an attempt waits, if it says so */
function waitsFor(books: Books, attempt: number): number | undefined {
  if (attempt === 1) return books.answerBy;
  const first = firstFor(books, attempt);
  return first?.kind === 'retry' && first.request.answerBy ? millis(first.request.answerBy) : undefined;
}

/** The order's end is sent once, unless the policy asks for changes and there were none. A cancel that was accepted is sent. */
function ended(books: Books): Finding[] {
  const { arrivals, endedAt, policy, record, transactions } = books;
  if (endedAt === undefined || policy.events === false || downForThreeDays(books)) return [];
  const types = new Map(arrivals.map(({ event }) => [event.sequence, event.type]));
  const inTurn = [...types].sort(([a], [b]) => a - b).map(([, type]) => type);
  const closed = inTurn.filter((type) => type === 'order.closed').length;
  const isOwed = owesClosed(books);
  const isWrong = closed > 1 || (isOwed !== undefined && isOwed !== (closed === 1));
  const kind = closed > 0 ? 'event unwanted' : 'event missing';
  const canceled = transactions.filter(
    ({ id, canceledAt }) => id === record.newest && canceledAt !== undefined && heardCanceled(books, id),
  );
  const untold = books.world.losses || inTurn.includes('order.canceled') ? [] : canceled;
  return [
    ...(isWrong ? finding(kind, `order.closed was sent ${closed} times: ${inTurn.join(' ')}`) : []),
    ...untold.flatMap(({ id }) => finding('event missing', `${id} was canceled, and nobody was told`)),
  ];
}

/** With `events: changes` an order that only passed sends no `order.closed`. Undefined: its events may be from before or after its end. */
function owesClosed({ arrivals, policy, record }: Books): boolean | undefined {
  if (policy.events === 'all' || record.actions.length > 0) return true;
  if (record.decision !== 'pass' || record.action !== 'proceed') return true;
  const others = arrivals.filter(
    ({ event: { type, data } }) => type !== 'order.closed' && data.afterClose !== true,
  );
  if (others.length === 0) return false;
  return others.every(({ event }) => event.data.phase === 'closed') ? undefined : true;
}
