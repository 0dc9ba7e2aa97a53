/** Does each event say what the books say, once and in order? */
import {
  type BookedArrival,
  type Books,
  type Finding,
  heardCanceled,
  isDecided,
  iso,
  transactionOf,
  wasTold,
} from '../books.ts';
import { answerOutranRecord, answerWasLost, downForThreeDays, mayBeOlder, wasReset } from '../facts.ts';

export function events(books: Books): Finding[] {
  const content = books.arrivals.flatMap((one) => said(books, one));
  if (wasReset(books)) return content;
  return [
    ...content,
    ...inOrder(books),
    ...older(books),
    ...lost(books),
    ...ended(books),
    ...finalStays(books),
  ];
}

/** What was declined or is to be canceled stays so: no later event lets that attempt proceed, or holds it, unless a person decides. */
function finalStays(books: Books): Finding[] {
  const decidedByPerson = books.calls.some((one) => one.asks === 'override' && one.taken);
  if (answerOutranRecord(books) || decidedByPerson) return [];
  const inTurn = books.arrivals.map(({ event }) => event).sort((a, b) => a.sequence - b.sequence);
  const final = new Map<number | undefined, string>();
  return inTurn.flatMap(({ sequence, data: { action, attempt } }) => {
    if (action === 'decline' || action === 'cancel') final.set(attempt, action);
    const before = final.get(attempt);
    if (before === undefined || (action !== 'proceed' && action !== 'hold')) return [];
    const facts = `${sequence} says ${action} of attempt ${attempt} after ${before}`;
    return [{ kind: 'event wrong', facts }];
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
    if (first === undefined && !taken.has(sequence - 1) && !downForThreeDays(books)) {
      found.push({ kind: 'event out of order', facts: `${sequence} came before ${sequence - 1} was taken` });
    }
    if (first !== undefined && first !== content) {
      found.push({ kind: 'event wrong', facts: `${sequence} came again with other content` });
    }
    firsts.set(sequence, first ?? content);
    if (took) taken.add(sequence);
  }
  if (new Set(arrivals.map(({ event }) => event.id)).size !== firsts.size) {
    found.push({ kind: 'event wrong', facts: 'two events share an id' });
  }
  return found;
}

/** None is lost, unless the receiver was down for three days. */
function lost(books: Books): Finding[] {
  const { arrivals, record, policy } = books;
  if (policy.events === false) return [];
  // What the screening service decided after the end is no event of the order's own.
  const own = arrivals.filter(({ taken, event }) => taken && event.data.afterClose !== true);
  const taken = new Set(own.map(({ event }) => event.sequence));
  const found: Finding[] = [];
  for (let sequence = 1; sequence <= record.events; sequence += 1) {
    if (!taken.has(sequence) && !downForThreeDays(books)) {
      found.push({ kind: 'event lost', facts: `${sequence} of ${record.events}` });
    }
  }
  const more = [...taken].find((sequence) => sequence > record.events);
  return more === undefined ? found : [...found, { kind: 'event wrong', facts: `${more} is not on record` }];
}

/** The order's end is sent once, unless the policy asks for changes and there were none. A cancel that was accepted is sent. */
function ended(books: Books): Finding[] {
  const { arrivals, endedAt, policy, record, transactions } = books;
  if (endedAt === undefined || policy.events === false || downForThreeDays(books)) return [];
  const types = new Map(arrivals.map(({ event }) => [event.sequence, event.type]));
  const inTurn = [...types].sort(([a], [b]) => a - b).map(([, type]) => type);
  const found: Finding[] = [];
  const missing = (what: string): number => found.push({ kind: 'event missing', facts: what });
  const closed = inTurn.filter((type) => type === 'order.closed').length;
  const isOwed = owesClosed(books);
  if (closed > 1 || (isOwed !== undefined && isOwed !== (closed === 1))) {
    const kind = closed > 0 ? 'event unwanted' : 'event missing';
    found.push({ kind, facts: `order.closed was sent ${closed} times: ${inTurn.join(' ')}` });
  }
  const canceled = transactions.find(
    ({ id, canceledAt }) => id === record.newest && canceledAt !== undefined,
  );
  if (
    canceled !== undefined &&
    heardCanceled(books, canceled.id) &&
    !answerWasLost(books) &&
    !inTurn.includes('order.canceled')
  ) {
    missing(`${canceled.id} was canceled, and nobody was told`);
  }
  return found;
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
