import { beforeAll, expect, it } from 'vitest';
import { aPolicy, HOUR, MINUTE } from '../fixtures/policies.ts';
import { booksOf } from '../simulation/books-of.ts';
import { OrderWorld } from '../simulation/order-world.ts';
import { RULES } from '../simulation/rules.ts';
import type { BookedRequest, Books } from './books.ts';
import { judgeBooks } from './judge.ts';

/** The books of a simulated order that passed at checkout, and closed when its cancel window ended. */
let passed: Books;

beforeAll(async () => {
  const world = new OrderWorld(
    {
      seed: 1,
      policy: aPolicy({ events: 'all' }),
      checkoutBudgetMs: 7_000,
      amount: 100,
      laterAmount: 100,
      wishes: [['pass']],
      start: 'update',
      card: false,
      happenings: [],
    },
    RULES,
  );
  await world.live();
  const { order } = world.run.worker;
  if (order === undefined) throw new TypeError('the order has no end');
  passed = structuredClone(booksOf(world, order.state));
});

function first<Entry>([entry]: Entry[]): Entry {
  if (entry === undefined) throw new TypeError('the books lack an entry');
  return entry;
}

const createIn = ({ requests }: Books) =>
  first(requests.filter((one) => one.operation === 'create-transaction'));
const readIn = ({ requests }: Books) => first(requests.filter((one) => one.operation === 'status'));
const answerIn = ({ calls }: Books) =>
  first(calls.flatMap((one) => (one.asks === 'checkout' && one.answer ? [one.answer] : [])));

/** Adds a request `ms` after the start, a done write by default. */
function sends({ requests, startedAt }: Books, ms: number, overrides: Partial<BookedRequest>): void {
  const [sentAt, arrivedAt, endedAt] = [startedAt + ms, startedAt + ms + 10, startedAt + ms + 20];
  const { transactionId } = first(requests);
  const done = { operation: 'cancel-transaction', heard: 'done', sent: {}, committed: true } as const;
  requests.push({ sentAt, arrivedAt, endedAt, transactionId, ...done, ...overrides } as BookedRequest);
}

function reportsPass(books: Books): void {
  const at = books.startedAt + MINUTE;
  books.policy = aPolicy({ workflow: 'pre-gateway' });
  books.calls.push({ asks: 'gateway-result', attempt: 1, result: 'pass', taken: true, sentAt: at, at });
}

/** Adds an event that says `decision`, at the end. */
function tells({ arrivals }: Books, type: string, decision: string): void {
  const last = first(arrivals.slice(-1));
  const sequence = last.event.sequence + 1;
  const event = { ...last.event, type, sequence, id: `default:${last.event.orderId}:${sequence}` };
  arrivals.push({ ...last, event: { ...event, data: { ...event.data, decision } } });
}

const chargeback = { operation: 'submit-chargeback', sent: { reason_code: '10.4' } } as const;

/** One fault of each kind. */
const PLANTED: [kind: string, how: string, plant: (books: Books) => unknown][] = [
  ['skip rule', 'skipped without a rule', (books) => (answerIn(books).decision = 'skipped')],
  ['answer', 'no such transaction', (books) => (answerIn(books).transactionId = 'none')],
  ['answer', 'a decision that was never heard', (books) => (answerIn(books).decision = 'review')],
  ['answer', 'an error without a reason', (books) => (answerIn(books).decision = 'error')],
  ['answer', 'another action than the policy’s', (books) => (answerIn(books).action = 'hold')],
  [
    'answer',
    'pending, though heard',
    (books) => {
      answerIn(books).decision = 'pending';
      first(books.calls).at += 6_000;
    },
  ],
  [
    'contradiction',
    'two answers',
    (books) => {
      const at = books.startedAt + HOUR;
      const answer = { ...answerIn(books), decision: 'fail' as const };
      books.calls.push({ asks: 'checkout', attempt: 1, sentAt: at - 10, at, answer });
    },
  ],
  [
    'second create',
    'after one that may have arrived',
    (books) => {
      createIn(books).heard = 'unknown';
      books.requests.push({ ...createIn(books), sentAt: createIn(books).endedAt + 10 });
    },
  ],
  ['adopted and screened', 'a create', (books) => (books.adoptedFrom = books.startedAt)],
  ['not on record', 'a transaction is missing', (books) => (books.record.transactions = [])],
  ['not in the books', 'a transaction is made up', (books) => (books.transactions = [])],
  ['wrong attempt', 'on record at another', (books) => (first(books.transactions).attempt = 2)],
  ['cancel late', 'after the window', (books) => sends(books, 121 * HOUR, {})],
  ['cancel unwanted', 'of a pass', (books) => sends(books, HOUR, {})],
  ['cancel missing', 'of a fail', (books) => (readIn(books).decision = 'fail')],
  ['window too long', 'by an hour', (books) => (first(books.record.transactions).cancelBy += HOUR)],
  ['window too short', 'by an hour', (books) => (first(books.record.transactions).cancelBy -= HOUR)],
  [
    'attention missing: portal-refused',
    'of a chargeback',
    (books) => sends(books, HOUR, { ...chargeback, heard: 'refused' }),
  ],
  ['attention stale: no-decision', 'of a pass', ({ record }) => record.attention.push('no-decision')],
  [
    'attention without a cause: wrong-key',
    'no call was answered 403',
    (books) => first(books.shown).attention.push('wrong-key'),
  ],
  [
    'chargeback twice',
    'after one whose outcome is unknown',
    (books) => {
      sends(books, HOUR, { ...chargeback, heard: 'unknown' });
      sends(books, 2 * HOUR, chargeback);
    },
  ],
  [
    'done and denied',
    'a chargeback that was done is refused on record',
    (books) => {
      const { id } = first(books.transactions);
      sends(books, HOUR, { ...chargeback, heard: 'unknown' });
      books.record.actions = [{ number: 1, kind: 'chargeback', transactionId: id, status: 'refused' }];
    },
  ],
  [
    'sent again',
    'a gateway result that was accepted',
    (books) => {
      reportsPass(books);
      for (const minutes of [2, 3])
        sends(books, minutes * MINUTE, { operation: 'gateway-response', sent: 'pass' });
    },
  ],
  [
    'too many reads',
    'within two seconds',
    (books) => {
      for (let ms = 0; ms < 1_000; ms += 100)
        sends(books, HOUR + ms, { operation: 'status', heard: 'transaction', decision: 'pass' });
    },
  ],
  ['read owed', 'for a hint', ({ news, startedAt }) => news.push({ at: startedAt + HOUR, what: 'hint' })],
  ['event wrong', 'a decision that never was', (books) => tells(books, 'order.attention', 'fail')],
  ['event out of order', 'the second comes first', ({ arrivals }) => arrivals.reverse()],
  ['event lost', 'the last one never came', ({ arrivals }) => arrivals.pop()],
  ['event missing', 'the order’s end', ({ arrivals }) => arrivals.pop()],
  ['event unwanted', 'a second end', (books) => tells(books, 'order.closed', 'pass')],
  [
    'gateway result wrong',
    'it was never reported',
    (books) => sends(books, HOUR, { operation: 'gateway-response', sent: 'fail' }),
  ],
  ['gateway result lost', 'never sent on', reportsPass],
  ['action wrong', 'nothing changed the answer', ({ record }) => (record.action = 'hold')],
  [
    'decision missed',
    'a review that became a pass',
    (books) => {
      const { decisions, createdAt } = first(books.transactions);
      first(decisions).decision = 'review';
      decisions.push({ decision: 'pass', at: createdAt + HOUR });
      createIn(books).decision = 'review';
    },
  ],
];

it('finds nothing wrong with an order that passed', () => {
  expect(judgeBooks(passed)).toEqual([]);
});

it.each(PLANTED)('finds a planted fault: %s, %s', (kind, _how, plant) => {
  const books = structuredClone(passed);
  plant(books);
  expect(judgeBooks(books).map((one) => one.kind)).toContain(kind);
});
