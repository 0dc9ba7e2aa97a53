import { describe, expect, it } from 'vitest';
import { PORTAL_OPERATIONS } from '../../src/sandbox/model.ts';
import { created, LIVE_KEY, portal, send, startSandbox, TEST_KEY, transaction } from './support.ts';

const NOT_AUTHORIZED = 'Not Authorized';
const NOT_FOUND = 'Transaction Not Found';
const NO_BILL_TO = 'Missing data, billTo field';
const NO_CARD = 'Missing data, payment.creditCard.';
const NOBODY = '9d9d9d9d-1b2c-4d5e-8f90-0123456789ab';
const live = { 'nf-token': LIVE_KEY };
const noCodes = { avsResultCode: undefined, cvvResultCode: undefined };
const card = (changes: object) => {
  const creditCard = { cardNumber: '4111111111111111', expirationDate: '12/2099', cardCode: '123' };
  return { ...noCodes, gatewayType: 'pre-gateway', payment: { creditCard: { ...creditCard, ...changes } } };
};
const gateway = (id: unknown) => ({ 'nf-token': TEST_KEY, 'nf-id': id });

/**
 * Beyond the interface's own table (`interface-table.ts`). Which fields of a transaction are refused: test/screening-service/transaction/judged-alike.test.ts.
 * `ID` is a transaction of the test account.
 */
it.each<[path: string, body: unknown, status: number, error: string | RegExp]>([
  ['test/transaction', transaction({ ...live, billTo: undefined }), 403, NOT_AUTHORIZED],
  ['test/transaction', transaction({ 'nf-token': undefined }), 403, NOT_AUTHORIZED],
  ['live/transaction', transaction(), 403, NOT_AUTHORIZED],
  ['live/transaction', transaction({ ...live, billTo: undefined }), 400, NO_BILL_TO],
  ['test/transaction', transaction({ amount: undefined }), 400, /^amount: /],
  ['test/transaction', transaction({ card_attempts: 'two' }), 400, /^card_attempts: /],
  ['test/transaction', transaction({ cardAttempts: 'two' }), 400, /^card_attempts: /],
  ['test/transaction', transaction(noCodes), 400, `${NO_CARD}cardNumber field`],
  ['test/', transaction({ ...noCodes, payment: undefined }), 400, 'Missing data, avsResultCode field'],
  ['live/', transaction({ ...card({ cardNumber: '4539578763621487' }), ...live }), 400, /valid card number/],
  ['test/', transaction(card({ cardCode: '12' })), 400, /cardCode/],
  ['test/', transaction(card({ cardCode: undefined })), 400, `${NO_CARD}cardCode field`],
  ['test/', '{"cardNumber": 4111111111111111', 400, /JSON/],
  [`test/state/${TEST_KEY}/1`, undefined, 404, /./],
  [`test/status/${TEST_KEY}/%E0`, undefined, 400, 'Malformed address'],
  [`test/status/${TEST_KEY}/${'x'.repeat(501)}`, undefined, 414, 'Malformed address'],
  [`test/status_by_invoice/${LIVE_KEY}/A-1`, undefined, 403, NOT_AUTHORIZED],
  [`test/status/${TEST_KEY}/${NOBODY}`, undefined, 404, NOT_FOUND],
  [`test/status_by_url/${TEST_KEY}/A-1`, undefined, 404, NOT_FOUND],
  [`live/status/${LIVE_KEY}/ID`, undefined, 404, NOT_FOUND],
  [`live/status/${LIVE_KEY}/A-1`, undefined, 404, NOT_FOUND],
  [`live/status_by_url/${LIVE_KEY}/ID`, undefined, 404, NOT_FOUND],
  [`live/status_by_invoice/${LIVE_KEY}/A-1`, undefined, 404, NOT_FOUND],
  ['test/gateway_response', gateway(NOBODY), 404, NOT_FOUND],
])('%s with %j is a %i that repeats nothing, and nothing is done', async (path, body, status, error) => {
  const sandbox = await startSandbox();
  const id = await created(sandbox);
  const content = typeof body === 'string' ? body : JSON.stringify(body)?.replace('"ID"', `"${id}"`);
  const method = body === undefined ? 'GET' : 'POST';
  const reply = await send(method, `${sandbox.url}/${path.replace('/ID', `/${id}`)}`, content);
  expect(reply.status).toBe(status);
  expect(reply.body.Errors[0]).toMatch(error);
  expect(reply.text).not.toMatch(/4111|45395|2099|sandbox-/);
  expect(sandbox.control.transactions()).toMatchObject([{ id, gatewayResponses: [] }]);
  expect(sandbox.control.ledger()[1]).toMatchObject({ committed: false, outcome: { status } });
});

it('a form is a 415', async () => {
  const { testBaseUrl } = await startSandbox();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await send('POST', testBaseUrl, 'a=b', { headers })).status).toBe(415);
});

describe.each(PORTAL_OPERATIONS)('%s', (action) => {
  const fields = { reason_code: '10.4', due_date: '2030-01-31', customer_code: 'c', email: 'a@example.com' };

  it('is refused by the code in the body without its fields, and for an unknown transaction', async () => {
    const sandbox = await startSandbox();
    const refused = (code: number, message: string) => ({ status: 200, body: { code, message } });
    const byCustomer = action === 'customer-code';
    const missing = `Missing or malformed: ${byCustomer ? 'customer_code, email' : 'transaction_id'}`;
    expect(await portal(sandbox, action, {})).toMatchObject(refused(400, missing));
    const entry = { committed: false, outcome: { status: 200, code: 400 } };
    expect(sandbox.control.ledger()).toMatchObject([entry]);
    if (byCustomer) return;
    const ofOtherMode = { ...fields, transaction_id: await created(sandbox), nf_token: LIVE_KEY };
    for (const body of [{ ...fields, transaction_id: NOBODY }, ofOtherMode]) {
      expect(await portal(sandbox, action, body)).toMatchObject(refused(404, NOT_FOUND));
    }
  });
});
