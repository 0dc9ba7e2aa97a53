import { describe, expect, it } from 'vitest';
import { OrderScreeningError } from '../../src/starter.ts';
import { aTransactionStatus, TRANSACTION_ID } from '../api/fake-order-screening.ts';
import { run } from './support.ts';

describe('transaction', () => {
  it('shows the decision, the message and the order that owns it, without control characters', async () => {
    const { code, answers } = await run(['transaction', '1001', '--table'], ({ getTransaction }) =>
      getTransaction.mockResolvedValue(aTransactionStatus({ decision: 'fail', message: 'So\u001bsorry' })),
    );
    expect(code).toBe(0);
    expect(answers.join('\n')).toMatch(
      /^transaction {2}[\w-]{36}\ndecision {5}\S*fail\S*\nmessage {6}So sorry\norder {8}order-1 \(default\)$/m,
    );
  });

  it('shows no order when none owns it', async () => {
    const { answers } = await run(['transaction', TRANSACTION_ID, '--table'], ({ getTransaction }) =>
      getTransaction.mockResolvedValue({ id: TRANSACTION_ID, decision: 'pass' }),
    );
    expect(answers.join('\n')).not.toMatch(/order|message/);
  });

  it.each([
    ['unknown-transaction', 4],
    ['transaction-without-decision', 3],
    ['screening-service-unavailable', 5],
    ['temporal-unavailable', 5],
  ] as const)('fails with %s and ends with %i', async (error, exit) => {
    const { code, answers, problem } = await run(['transaction', '1001'], ({ getTransaction }) =>
      getTransaction.mockRejectedValue(new OrderScreeningError(error, 'In words.')),
    );
    expect([code, answers, problem?.type]).toEqual([exit, [], error]);
  });

  it.each(['#', '..', 'x'.repeat(65)])('asks for nothing by %s, and ends with 2', async (name) => {
    const { code, problem, orders } = await run(['transaction', name]);
    expect([code, problem?.errors?.map(({ path }) => path)]).toEqual([2, ['<idOrInvoice>']]);
    expect(orders.getTransaction).not.toHaveBeenCalled();
  });
});
