import { expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { created, DAY_MS, decidedAs, portal, startSandbox } from './support.ts';

/** The body of a portal action's reply, which has HTTP 200. */
async function act(sandbox: Sandbox, action: string, fields: Record<string, unknown>) {
  const { status, body } = await portal(sandbox, action, fields);
  expect(status).toBe(200);
  return body;
}
const chargeback = (id: string) => ({ transaction_id: id, reason_code: '10.4', due_date: '2030-01-31' });

it('a reply has its code as a number, as text, or by turns', async () => {
  const sandbox = await startSandbox();
  const id = await created(sandbox);
  const code = async () => (await act(sandbox, 'cancel-transaction', { transaction_id: id })).code;
  expect(await code()).toBe(200);
  sandbox.control.setPortal({ codeType: 'string' });
  expect(await code()).toBe('200');
  sandbox.control.setPortal({ codeType: 'alternating' });
  expect([await code(), await code()].sort()).toEqual([200, '200']);
});

it('customer-code is created with the known reply', async () => {
  const sandbox = await startSandbox();
  const reply = await act(sandbox, 'customer-code', { customer_code: 'PH-77', email: 'caller@example.com' });
  expect(reply).toEqual({ code: 200, message: 'customer code created successfully' });
  const code = { customerCode: 'PH-77', email: 'caller@example.com', mode: 'test' };
  expect(sandbox.control.customerCodes()).toMatchObject([code]);
});

it('report-fraud alerts the analysts and changes no decision', async () => {
  const sandbox = await startSandbox();
  const id = await created(sandbox);
  expect((await act(sandbox, 'report-fraud', { transaction_id: id })).code).toBe(200);
  const [found] = sandbox.control.transactions(id);
  expect(found).toMatchObject({ decision: 'pass', fraudReports: [expect.any(String)] });
  const [alert] = sandbox.control.ledger({ operation: 'alert' });
  expect(alert).toMatchObject({ transactionId: id, committed: true });
});

it('cancel-transaction cancels once up to 5 days after the create, or within the window that is set', async () => {
  const sandbox = await startSandbox();
  const [inTime, late] = [await created(sandbox), await created(sandbox)];
  const cancel = (id: string) => act(sandbox, 'cancel-transaction', { transaction_id: id });
  sandbox.control.setClock({ advanceMs: 5 * DAY_MS - 60_000 });
  expect((await cancel(inTime)).code).toBe(200);
  expect((await cancel(inTime)).code).toBe(200);
  sandbox.control.setClock({ advanceMs: 60_000 });
  expect(await cancel(late)).toEqual({ code: 403, message: expect.stringMatching(/within 5 days/) });
  const canceledAt = sandbox.control.transactions().map((one) => one.canceledAt);
  expect(canceledAt).toEqual([expect.any(String), null]);
  const committed = sandbox.control.ledger({ operation: 'cancel-transaction' }).map((one) => one.committed);
  expect(committed).toEqual([true, false, false]);
  sandbox.control.setPortal({ cancelWindowMs: 6 * DAY_MS });
  expect((await cancel(late)).code).toBe(200);
});

it('submit-chargeback echoes the fields that were sent, and a repeat is another one', async () => {
  const sandbox = await startSandbox();
  const carrier = { carrier: 'Post', carrier_tracking_number: 'T-1', notes: 'none', inquiry: 'false' };
  const dated = { notice_date: '2030-01-01', reference_number: 'R-1' };
  const fields = { ...chargeback(await created(sandbox)), ...dated, ...carrier };
  for (let time = 0; time < 2; time += 1) {
    const reply = await act(sandbox, 'submit-chargeback', fields);
    expect(reply).toEqual({ code: 200, message: expect.any(String), chargeback: fields });
  }
  expect(sandbox.control.transactions()[0]?.chargebacks).toHaveLength(2);
});

it.each([
  ['pass', true, 200],
  ['fraudulent', true, 200],
  ['fail', true, 403],
  ['review', true, 403],
  ['error', true, 403],
  ['pass', false, 403],
])('submit-chargeback with the status %s, covered: %s, has the code %i', async (word, covered, code) => {
  const sandbox = await startSandbox();
  sandbox.control.setPortal({ covered });
  const fields = chargeback(await created(sandbox, decidedAs(word)));
  const reply = await act(sandbox, 'submit-chargeback', fields);
  expect([reply.code, 'chargeback' in reply]).toEqual([code, code === 200]);
  const words = covered ? /while the status is pass or fraudulent/ : /not covered/;
  if (code === 403) expect(reply.message).toMatch(words);
  sandbox.control.decide('A-1', 'pass');
  sandbox.control.cover('A-1', true);
  expect((await act(sandbox, 'submit-chargeback', fields)).code).toBe(200);
});
