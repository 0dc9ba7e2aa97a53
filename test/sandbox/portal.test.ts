import { expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { created, DAY_MS, portal, startSandbox } from './support.ts';

/** The body of a portal action's reply, which has HTTP 200. */
async function act(sandbox: Sandbox, action: string, fields: Record<string, unknown>) {
  const { status, body } = await portal(sandbox, action, fields);
  expect(status).toBe(200);
  return body;
}

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
  for (const id of [late, inTime])
    expect(await cancel(id)).toEqual({ code: 403, message: expect.stringMatching(/within 5 days/) });
  const canceledAt = sandbox.control.transactions().map((one) => one.canceledAt);
  expect(canceledAt).toEqual([expect.any(String), null]);
  const committed = sandbox.control.ledger({ operation: 'cancel-transaction' }).map((one) => one.committed);
  expect(committed).toEqual([true, false, false, false]);
  sandbox.control.setPortal({ cancelWindowMs: 6 * DAY_MS });
  expect((await cancel(late)).code).toBe(200);
});

it('a chargeback that is repeated is another one', async () => {
  const sandbox = await startSandbox();
  const fields = { transaction_id: await created(sandbox), reason_code: '10.4', due_date: '2030-01-31' };
  for (const _time of [1, 2]) await act(sandbox, 'submit-chargeback', fields);
  expect(sandbox.control.transactions()[0]?.chargebacks).toHaveLength(2);
});
