import { expect, it } from 'vitest';
import { DECISIONS } from '../../src/sandbox/model.ts';
import { created, decidedAs, LIVE_KEY, send, startSandbox, TEST_KEY, transaction } from './support.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('create-transaction answers with id and decision only, and each time with another transaction', async () => {
  const { testBaseUrl, control } = await startSandbox();
  for (let time = 0; time < 2; time += 1) {
    const reply = await send('POST', `${testBaseUrl}/transaction`, transaction());
    expect([reply.status, reply.body]).toEqual([200, { id: expect.stringMatching(UUID), decision: 'pass' }]);
  }
  expect(control.transactions('A-1')).toHaveLength(2);
});

it.each([
  ...DECISIONS.flatMap((word) =>
    [word, `${word}+shop`, `${word}-17`, word.toUpperCase()].map((said) => [said, word]),
  ),
  ...['jane.doe', 'failure', 'reviewer.x'].map((said) => [said, 'pass']),
])('the e-mail %s@… gets the decision %s, and a message only when it is fail', async (said, decision) => {
  const { testBaseUrl } = await startSandbox();
  const { body } = await send('POST', testBaseUrl, decidedAs(String(said)));
  expect(body.decision).toBe(decision);
  expect('message' in body).toBe(decision === 'fail');
  expect((await send('GET', `${testBaseUrl}/status/${TEST_KEY}/${body.id}`)).body).toEqual(body);
});

it.each(DECISIONS)('the enriched response for %s has what the interface describes', async (decision) => {
  const { testBaseUrl } = await startSandbox();
  const { body } = await send('POST', testBaseUrl, decidedAs(decision, { enrich: true }));
  const modes = { account_mode: 'test', passive_mode: false };
  expect(body).toMatchObject({ decision, ...modes, sub_status: expect.any(String) });
  const plain = { description: expect.any(String), kind: expect.any(String), name: expect.any(String) };
  const weighed = { ...plain, impact: expect.stringMatching(/^(low|medium|high)$/) };
  expect(body.insights).toEqual({
    risk: decision === 'pass' ? {} : { 1: weighed },
    trust: { 1: weighed },
    neutral: { 1: plain },
    recommendation: { 1: plain },
  });
});

it('both dialects are accepted: either path, either name of the key, either spelling of the fields', async () => {
  const { testBaseUrl, control } = await startSandbox();
  const sample = {
    ...transaction({ currencyCode: 'USD', cardAttempts: '2', referialCode: 'AF01' }),
    'nf-token': undefined,
    nfToken: TEST_KEY,
    customer: { email: 'review@example.com', joinedOn: '01/31/2020' },
    order: { invoiceNumber: 'sample-1', orderType: 'upsell' },
  };
  for (const url of [testBaseUrl, `${testBaseUrl}/`, `${testBaseUrl}/transaction`]) {
    expect((await send('POST', url, sample)).body.decision).toBe('review');
    expect((await send('POST', url, transaction({ currency_code: 'USD' }))).status).toBe(200);
  }
  expect(control.transactions('sample-1')).toHaveLength(3);
});

it('a test key accepts test cards, and a live key real ones', async () => {
  const { testBaseUrl, liveBaseUrl, control } = await startSandbox();
  const card = { cardNumber: '4111111111111111', expirationDate: '12/2099', cardCode: '123' };
  const real = { creditCard: { ...card, cardNumber: '4539578763621486' } };
  await send('POST', testBaseUrl, transaction({ payment: { creditCard: card } }));
  await send('POST', liveBaseUrl, transaction({ payment: real, 'nf-token': LIVE_KEY }));
  expect(control.transactions().map(({ last4 }) => last4)).toEqual(['1111', '1486']);
});

it('a transaction is found by its id, and by its invoice number without the #, the first one only', async () => {
  const sandbox = await startSandbox();
  const long = `Ä 1/2?%${'x'.repeat(50)}`;
  const id = await created(sandbox, decidedAs('pass', { order: { invoiceNumber: '#1001' } }));
  await created(sandbox, decidedAs('pass', { order: { invoiceNumber: '1001' } }));
  const odd = await created(sandbox, transaction({ order: { invoiceNumber: long } }));
  sandbox.control.decide(id, 'fraudulent');
  const read = (path: string, of: string) =>
    send('GET', `${sandbox.testBaseUrl}/${path}/${TEST_KEY}/${encodeURIComponent(of)}`);
  for (const [path, of] of [
    ['status', id],
    ['status', '1001'],
    ['status_by_url', id],
    ['status_by_invoice', '1001'],
  ] as const) {
    expect(await read(path, of)).toMatchObject({ status: 200, body: { id, decision: 'fraudulent' } });
  }
  expect((await read('status_by_invoice', long)).body.id).toBe(odd);
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
