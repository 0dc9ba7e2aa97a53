import { expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { DECISIONS } from '../../src/sandbox/model.ts';
import { created, DAY_MS, decidedAs, portal, send, startSandbox, TEST_KEY, transaction } from './support.ts';

it.each([
  ...DECISIONS.flatMap((word) =>
    [word, `${word}+shop`, `${word}-17`, `${word}.doe`, word.toUpperCase()].map((said) => [said, word]),
  ),
  ...['jane.doe', 'failure', 'reviewer.x'].map((said) => [said, 'pass']),
])('the e-mail %s@… gets the decision %s, and a message only when it is fail', async (said, decision) => {
  const { testBaseUrl } = await startSandbox();
  const { body } = await send('POST', testBaseUrl, decidedAs(String(said)));
  const message = decision === 'fail' && { message: expect.any(String) };
  expect(body).toEqual({ id: expect.any(String), decision, ...message });
  expect((await send('GET', `${testBaseUrl}/status/${TEST_KEY}/${body.id}`)).body).toEqual(body);
});

it.each(DECISIONS)('the enriched response for %s has what the interface describes', async (decision) => {
  const { testBaseUrl } = await startSandbox();
  const { body } = await send('POST', testBaseUrl, decidedAs(decision, { enrich: true }));
  const modes = { account_mode: 'test', passive_mode: false };
  const plain = { description: expect.any(String), kind: expect.any(String), name: expect.any(String) };
  const weighed = { ...plain, impact: expect.stringMatching(/^(low|medium|high)$/) };
  const recommendation = { 1: plain };
  const risk = decision === 'pass' ? {} : { 1: weighed };
  const insights = { risk, trust: { 1: weighed }, neutral: { 1: plain }, recommendation };
  const id = expect.any(String);
  expect(body).toEqual({ id, decision, ...modes, sub_status: expect.any(String), insights });
});

it('gateway_response refuses a result that the interface does not name only when it is told to', async () => {
  const sandbox = await startSandbox();
  const id = await created(sandbox);
  const status = async (result: string) => {
    const body = { 'nf-token': TEST_KEY, 'nf-id': id, 'gateway-response': { result } };
    return (await send('POST', `${sandbox.testBaseUrl}/gateway_response`, body)).status;
  };
  expect(await status('error')).toBe(200);
  const settings = { otherGatewayResults: 'refuse' };
  expect((await send('PUT', `${sandbox.url}/_sandbox/screening`, settings)).body).toMatchObject(settings);
  expect([await status('error'), await status('pass'), await status('fail')]).toEqual([400, 200, 200]);
  sandbox.control.reset();
  expect(sandbox.control.setScreening({})).toEqual({
    otherGatewayResults: 'accept',
    withoutCreditCard: 'accept',
  });
});

it('transaction refuses a payment without a card only when it is told to', async () => {
  const sandbox = await startSandbox();
  const status = async (payment: object) => {
    const body = transaction({ payment });
    return (await send('POST', `${sandbox.testBaseUrl}/transaction`, body)).status;
  };
  expect(await status({ method: 'paypal' })).toBe(200);
  sandbox.control.setScreening({ withoutCreditCard: 'refuse' });
  expect(await status({ method: 'paypal' })).toBe(400);
  expect(await status({ creditCard: { last4: '1111' } })).toBe(200);
});

it('gateway_response records the result and answers Status OK, in either spelling', async () => {
  const sandbox = await startSandbox();
  const id = await created(sandbox);
  const passed = { result: 'pass', authcode: '00AA', 'transaction-id': 'g-1' };
  for (const body of [
    { 'nf-token': TEST_KEY, 'nf-id': id, 'gateway-response': passed },
    { nfToken: TEST_KEY, nfId: id, gatewayResponse: { result: 'fail', transactionId: 'g-2' } },
  ]) {
    const reply = await send('POST', `${sandbox.testBaseUrl}/gateway_response`, body);
    expect([reply.status, reply.body]).toEqual([200, { Status: 'OK' }]);
  }
  expect(sandbox.control.transactions(id)[0]?.gatewayResponses).toMatchObject([
    { result: 'pass', authcode: '00AA', transactionId: 'g-1' },
    { result: 'fail', authcode: null, transactionId: 'g-2' },
  ]);
  const entry = { committed: true, transactionId: id, invoiceNumber: 'A-1' };
  expect(sandbox.control.ledger({ operation: 'gateway-response' })).toMatchObject([entry, entry]);
});

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
