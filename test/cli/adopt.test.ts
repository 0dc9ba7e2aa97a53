import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OrderScreeningError } from '../../src/starter.ts';
import { scratchFolder } from '../dev/fake-commands.ts';
import { aCheckoutAnswer, TRANSACTION_ID } from '../server/api/fake-order-screening.ts';
import { type Fake, run } from './support.ts';

const AT = '2026-01-31T12:00:00Z';
const HEAD = 'orderId,transactionId,screenedAt';
const review = aCheckoutAnswer({ decision: 'review', action: 'hold', phase: 'review' });
const by = { actor: 'ada' };
const idOf = (number: number) => TRANSACTION_ID.replace(/.{4}$/, String(number).padStart(4, '0'));

/** Adopts the orders of a file. */
async function adopt(content: string | Buffer, args: string[] = [], set?: (orders: Fake) => void) {
  const file = join(await scratchFolder(), 'orders.csv');
  await writeFile(file, content);
  return run(['adopt', '--file', file, '--actor', 'ada', ...args], (orders) => {
    orders.adopt.mockResolvedValue(review);
    set?.(orders);
  });
}

it('adopts a file line by line, with what each line says', async () => {
  const rows = [
    'orderId;transactionId;screenedAt;integration;workflow;amount;currencyCode;gatewayResult;force;invoiceNumber',
    `1001;${idOf(1)};${AT};;;12.50;EUR;;;#A-7`,
    '',
    `"1002";${idOf(2)};${AT};other;pre-gateway;;;pass;true;`,
  ];
  const content = `\ufeff${rows.join('\r\n')}\r\n`;
  const { code, answers, notices, orders } = await adopt(content, ['--integration', 'shop']);
  const line = (number: number) => ({ transactionId: idOf(number), screenedAt: AT });
  const more = { integration: 'other', workflow: 'pre-gateway', gatewayResult: 'pass', force: true };
  expect(orders.adopt.mock.calls).toEqual([
    [
      {
        orderId: '1001',
        integration: 'shop',
        amount: '12.50',
        currencyCode: 'EUR',
        invoiceNumber: '#A-7',
        ...line(1),
      },
      { dryRun: false, by },
    ],
    [
      { orderId: '1002', ...more, ...line(2) },
      { dryRun: false, by },
    ],
  ]);
  expect(answers).toMatchObject([
    { line: 2, orderId: '1001', adopted: true, decision: 'review' },
    { line: 4, orderId: '1002', adopted: true, decision: 'review' },
  ]);
  expect([code, notices]).toEqual([0, ['2 lines: 0 refused, 0 without an answer']]);
});

it('says in words what would happen, and starts nothing', async () => {
  const { answers, orders } = await adopt(`${HEAD}\n1001,${idOf(1)},${AT}`, ['--dry-run', '--table']);
  expect(answers).toEqual(['line 2  1001  would be adopted: review, hold, review']);
  expect(orders.adopt).toHaveBeenCalledWith(expect.anything(), { dryRun: true, by });
});

it('goes on after a line that is refused, adopts no line that another one contradicts, and ends with 3', async () => {
  const line = (id: number, transaction = id) => `${1000 + id},${idOf(transaction)},${AT}`;
  const lines = [line(1), `1002,${idOf(2)}`, line(3), line(3, 4)];
  const content = [HEAD, ...lines, `1005,${idOf(3).toUpperCase()},${AT}`].join('\n');
  const { code, answers, notices } = await adopt(content, [], ({ adopt }) =>
    adopt.mockImplementation(async ({ orderId }) => {
      if (orderId !== '1001') return review;
      throw new OrderScreeningError('transaction-taken', 'The order 7 has this transaction');
    }),
  );
  const sorted = answers.toSorted((a, b) => a.line - b.line);
  expect(sorted.map(({ line, adopted, problem }) => [line, adopted, problem?.detail])).toEqual([
    [2, false, 'The order 7 has this transaction'],
    [3, false, 'The line has 2 columns, not 3'],
    [4, false, 'The line names the same order as line 5'],
    [5, false, 'The line names the same order as line 4'],
    [6, false, 'The line names the same transaction as line 4'],
  ]);
  expect([code, notices]).toEqual([3, ['5 lines: 5 refused, 0 without an answer']]);
});

it('adopts the first of equal lines, and only refuses their repeats', async () => {
  const equal = `1001,${idOf(1)},${AT}`;
  const contradicted = `1002,${idOf(2)},${AT}`;
  const content = [HEAD, equal, equal, contradicted, contradicted, `1002,${idOf(3)},${AT}`].join('\n');
  const { code, answers, orders } = await adopt(content);
  expect(answers.map(({ line, problem }) => [line, problem?.detail]).toSorted()).toEqual([
    [2, undefined],
    [3, 'The line names the same order as line 2'],
    [4, 'The line names the same order as line 6'],
    [5, 'The line names the same order as line 4'],
    [6, 'The line names the same order as line 4'],
  ]);
  expect([code, orders.adopt.mock.calls.length]).toEqual([3, 1]);
});

it('does not compare lines by an id that they lack', async () => {
  const content = `${HEAD}\n1001,,${AT}\n1002,,${AT}\n,${idOf(3)},${AT}\n,${idOf(4)},${AT}`;
  const { orders } = await adopt(content);
  expect(orders.adopt).toHaveBeenCalledTimes(4);
});

it('writes no card number of a wrong column', async () => {
  const card = '4111111111111111';
  const { answers } = await adopt(`${HEAD}\n${card},${card},${AT}\n`, [], (orders) => {
    orders.adopt.mockRejectedValue(new OrderScreeningError('card-data-in-request', 'In words.'));
  });
  expect(JSON.stringify(answers)).toContain('card-data-in-request');
  expect(JSON.stringify(answers)).not.toContain(card);
});

it('ends with 5 when a line has no answer', async () => {
  const away = new OrderScreeningError('screening-service-unavailable', 'No answer');
  const content = `${HEAD}\n1001,${idOf(1)},${AT}\n1002,${idOf(2)},${AT}`;
  const { code, answers } = await adopt(content, [], (orders) => orders.adopt.mockRejectedValueOnce(away));
  expect(code).toBe(5);
  expect(answers.map(({ adopted }) => adopted).toSorted()).toEqual([false, true]);
  const inWords = await adopt(content, ['--table'], (orders) => orders.adopt.mockRejectedValueOnce(away));
  expect(inWords.answers.join('\n')).toMatch(/line 2 {2}1001 {2}\S*unanswered\S* No answer/);
});

it.each<[content: string | Buffer, detail: string, messages: unknown[]]>([
  // In another encoding two ids could become one.
  [Buffer.from(`${HEAD}\nM\xfcller,${idOf(1)},${AT}`, 'latin1'), 'must be text in UTF-8', []],
  ['', '', ['orderId', 'transactionId', 'screenedAt'].map((column) => `lacks the column ${column}`)],
  [`${HEAD},status\n`, '', [expect.stringContaining('has a column that is none of orderId, integration')]],
  [`${HEAD},orderId\n`, '', ['names a column twice']],
  [`${HEAD}\n1001,"${idOf(1)},${AT}\n`, '', ["can't be read (CSV_QUOTE_NOT_CLOSED)"]],
])('refuses a file as a whole before anything is done: %j', async (content, detail, messages) => {
  const { code, problem, orders } = await adopt(content);
  expect([code, problem?.detail]).toEqual([2, expect.stringContaining(detail)]);
  expect(problem?.errors?.map(({ message }) => message) ?? []).toEqual(messages);
  expect(orders.adopt).not.toHaveBeenCalled();
});
