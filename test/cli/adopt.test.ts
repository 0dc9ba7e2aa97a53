import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OrderScreeningError } from '../../src/starter.ts';
import { aCheckoutAnswer, fakeOrderScreening, TRANSACTION_ID } from '../api/fake-order-screening.ts';
import { runCommand } from '../support/run-command.ts';

const AT = '2026-01-31T12:00:00Z';
const HEAD = 'orderId,transactionId,screenedAt';
const review = aCheckoutAnswer({ decision: 'review', action: 'hold', phase: 'review' });
const by = { actor: 'ada' };
const idOf = (number: number) => TRANSACTION_ID.replace(/.{4}$/, String(number).padStart(4, '0'));

/** Adopts the orders of a file over a client library that answers as a test wants it. */
async function run(content: string | Buffer, { args = [] as string[], orders = fakeOrderScreening() } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-adopt-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'orders.csv'), content);
  const command = ['adopt', '--file', join(directory, 'orders.csv'), '--actor', 'ada', ...args];
  return { ...(await runCommand(command, { env: {}, withOrders: (use) => use(orders) })), orders };
}

describe('a file of orders', () => {
  it('is adopted line by line, with what each line says', async () => {
    const orders = fakeOrderScreening();
    orders.adopt.mockResolvedValue(review);
    const rows = [
      'orderId;transactionId;screenedAt;integration;workflow;amount;gatewayResult;force',
      `1001;${idOf(1)};${AT};;;12.50;;`,
      '',
      `"1002";${idOf(2)};${AT};other;pre-gateway;;pass;true`,
    ];
    const { code, answers, notices } = await run(`\ufeff${rows.join('\r\n')}\r\n`, {
      args: ['--integration', 'shop'],
      orders,
    });
    const line = (number: number) => ({ transactionId: idOf(number), screenedAt: AT });
    expect(orders.adopt.mock.calls).toEqual([
      [
        { orderId: '1001', integration: 'shop', amount: '12.50', ...line(1) },
        { dryRun: false, by },
      ],
      [
        {
          orderId: '1002',
          integration: 'other',
          workflow: 'pre-gateway',
          gatewayResult: 'pass',
          force: true,
          ...line(2),
        },
        { dryRun: false, by },
      ],
    ]);
    expect([code, answers.map((one) => [one.line, one.orderId, one.adopted, one.decision])]).toEqual([
      0,
      [
        [2, '1001', true, 'review'],
        [4, '1002', true, 'review'],
      ],
    ]);
    expect(notices).toEqual(['2 lines: 0 refused, 0 without an answer']);
  });

  it('is refused whole when it isn’t in UTF-8: two ids could become one', async () => {
    const lines = ['M\xfcller', 'M\xf6ller'].map((id, index) => `${id},${idOf(index)},${AT}`);
    const { code, problem, orders } = await run(Buffer.from([HEAD, ...lines].join('\n'), 'latin1'));
    expect([code, problem?.detail]).toEqual([2, 'The input must be text in UTF-8']);
    expect(orders.adopt).not.toHaveBeenCalled();
  });

  it('says in words what would happen, and starts nothing', async () => {
    const orders = fakeOrderScreening();
    orders.adopt.mockResolvedValue(review);
    const { answers } = await run(`${HEAD}\n1001,${idOf(1)},${AT}`, {
      args: ['--dry-run', '--table'],
      orders,
    });
    expect(answers).toEqual(['line 2  1001  would be adopted: review, hold, review']);
    expect(orders.adopt).toHaveBeenCalledWith(expect.anything(), { dryRun: true, by });
  });

  it('goes on after a line that is refused, and ends with 3', async () => {
    const orders = fakeOrderScreening();
    orders.adopt.mockImplementation(async ({ orderId }) => {
      if (orderId !== '1001') return review;
      throw new OrderScreeningError('transaction-taken', 'The order 7 has this transaction');
    });
    const content = [
      HEAD,
      `1001,${idOf(1)},${AT}`,
      `1002,${idOf(2)}`,
      `1003,${idOf(3)},${AT}`,
      `1003,${idOf(4)},${AT}`,
      `1005,${idOf(3).toUpperCase()},${AT}`,
    ].join('\n');
    const { code, answers, notices } = await run(content, { orders });
    const sorted = answers.toSorted((a, b) => a.line - b.line);
    expect(sorted.map(({ line, adopted, problem }) => [line, adopted, problem?.detail])).toEqual([
      [2, false, 'The order 7 has this transaction'],
      [3, false, 'The line has 2 columns, not 3'],
      [4, true, undefined],
      [5, false, 'The line names the same order as line 4'],
      [6, false, 'The line names the same transaction as line 4'],
    ]);
    expect([code, notices]).toEqual([3, ['5 lines: 4 refused, 0 without an answer']]);
  });

  it('ends with 5 when a line has no answer', async () => {
    const orders = fakeOrderScreening();
    orders.adopt.mockRejectedValueOnce(new OrderScreeningError('screening-service-unavailable', 'No answer'));
    const { code, answers } = await run(`${HEAD}\n1001,${idOf(1)},${AT}\n1002,${idOf(2)},${AT}`, { orders });
    expect(code).toBe(5);
    expect(answers.map(({ adopted }) => adopted).toSorted()).toEqual([false, true]);
  });

  it.each([
    ['', ['lacks the column orderId', 'lacks the column transactionId', 'lacks the column screenedAt']],
    [`${HEAD},status\n`, [expect.stringContaining('has a column that is none of orderId, integration')]],
    [`${HEAD},orderId\n`, ['names a column twice']],
    [`${HEAD}\n1001,"${idOf(1)},${AT}\n`, ["can't be read (CSV_QUOTE_NOT_CLOSED)"]],
  ])('that is none is refused before anything is done: %j', async (content, messages) => {
    const { code, problem, orders } = await run(content);
    expect(code).toBe(2);
    expect(problem?.errors?.map(({ message }) => message)).toEqual(messages);
    expect(orders.adopt).not.toHaveBeenCalled();
  });
});
