/** Does each event say what the books say, once and in order? */
import {
  type BookedArrival,
  type Books,
  type Finding,
  isDecided,
  iso,
  readingsOf,
  transactionOf,
  wasCanceled,
  wasTold,
} from './books.ts';
import { answerWasLost, mayBeOlder, wasReset } from './facts.ts';

export function events(books: Books): Finding[] {
  const content = books.arrivals.flatMap((one) => said(books, one));
  if (wasReset(books)) return content;
  return [...content, ...inOrder(books), ...older(books), ...lost(books), ...ended(books)];
}

/** No event says what was read before the last reading that GET had shown by then. */
function older(books: Books): Finding[] {
  return books.arrivals.flatMap(({ event: { data, sequence }, at }) => {
    if (data.transactionId === undefined || !isDecided(data.decision)) return [];
    const heard = readingsOf(books, data.transactionId).filter(({ endedAt }) => endedAt <= at);
    const readings = heard.filter(({ decision }) => decision === data.decision);
    const first = Math.min(...readings.map(({ endedAt }) => endedAt));
    const last = Math.max(...readings.map(({ arrivedAt = 0 }) => arrivedAt));
    const readAt = books.shown.findLast((one) => one.at < first)?.readAt ?? 0;
    const newer = heard.find(({ endedAt, arrivedAt = 0 }) => endedAt <= readAt && arrivedAt > last);
    if (newer === undefined) return [];
    const facts = `${sequence} says ${data.decision}, read before ${newer.decision} of ${iso(newer.endedAt)}`;
    return [{ kind: 'event wrong', facts }];
  });
}

function said(books: Books, { event, at }: BookedArrival): Finding[] {
  const { type, sequence, data, id, integration, orderId } = event;
  const wrong = (facts: string) => [
    { kind: 'event wrong', facts: `${sequence} ${type} at ${iso(at)}: ${facts}` },
  ];
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

/** First arrivals count 1, 2, 3 …, each after the one before was taken; repeats are the same. */
function inOrder(books: Books): Finding[] {
  const { arrivals } = books;
  const firsts = new Map<number, string>();
  const taken = new Set([0]);
  const found: Finding[] = [];
  for (const { event, taken: took } of arrivals) {
    const { sequence } = event;
    const content = JSON.stringify(event);
    const first = firsts.get(sequence);
    if (first === undefined && !taken.has(sequence - 1)) {
      found.push({ kind: 'event out of order', facts: `${sequence} came before ${sequence - 1} was taken` });
    }
    if (first !== undefined && first !== content) {
      found.push({ kind: 'event wrong', facts: `${sequence} came again with other content` });
    }
    firsts.set(sequence, first ?? content);
    if (took) taken.add(sequence);
  }
  return found;
}

/** None is lost. */
function lost(books: Books): Finding[] {
  const { arrivals, record, policy } = books;
  if (policy.events === false) return [];
  // What the screening service decided after the end is no event of the order's own.
  const own = arrivals.filter(({ taken, event }) => taken && event.data.afterClose !== true);
  const taken = new Set(own.map(({ event }) => event.sequence));
  const found: Finding[] = [];
  for (let sequence = 1; sequence <= record.events; sequence += 1) {
    if (!taken.has(sequence)) {
      found.push({ kind: 'event lost', facts: `${sequence} of ${record.events}` });
    }
  }
  const more = [...taken].find((sequence) => sequence > record.events);
  return more === undefined ? found : [...found, { kind: 'event wrong', facts: `${more} is not on record` }];
}

/** The order's end is sent once, unless the policy asks for changes only. A cancel that was accepted is sent. */
function ended(books: Books): Finding[] {
  const { arrivals, endedAt, policy, record } = books;
  if (endedAt === undefined || policy.events === false) return [];
  const types = [...new Map(arrivals.map(({ event }) => [event.sequence, event.type])).values()];
  const found: Finding[] = [];
  const closed = types.filter((type) => type === 'order.closed').length;
  if (closed > 1 || (closed === 0 && policy.events === 'all')) {
    const kind = closed > 0 ? 'event unwanted' : 'event missing';
    found.push({ kind, facts: `order.closed was sent ${closed} times: ${types.join(' ')}` });
  }
  if (wasCanceled(books, record.newest) && !answerWasLost(books) && !types.includes('order.canceled'))
    found.push({ kind: 'event missing', facts: `${record.newest} was canceled, and no event says so` });
  return found;
}
