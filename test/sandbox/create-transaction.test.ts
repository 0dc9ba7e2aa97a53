import { describe, expect, it } from 'vitest';
import { DECISIONS } from '../../src/sandbox/model.ts';
import { decidedAs, LIVE_KEY, send, startSandbox, TEST_KEY, transaction } from './support.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const card = (changes = {}) =>
  transaction({
    avsResultCode: undefined,
    cvvResultCode: undefined,
    gatewayType: 'pre-gateway',
    payment: {
      creditCard: {
        cardNumber: '4111111111111111',
        expirationDate: '12/2099',
        cardCode: '123',
        ...changes,
      },
    },
  });

describe('create-transaction', () => {
  it('answers the standard response with nothing but id and decision', async () => {
    const { testBaseUrl } = await startSandbox();
    const reply = await send('POST', `${testBaseUrl}/transaction`, transaction());
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ id: expect.stringMatching(UUID), decision: 'pass' });
  });

  it.each(DECISIONS)('decides %s as the e-mail asks, with or without a suffix', async (decision) => {
    const { testBaseUrl } = await startSandbox();
    for (const word of [decision, `${decision}+shop`, `${decision}-17`, decision.toUpperCase()]) {
      const reply = await send('POST', `${testBaseUrl}/transaction`, decidedAs(word));
      expect(reply.body.decision).toBe(decision);
      expect('message' in reply.body).toBe(decision === 'fail');
    }
  });

  it('passes an order whose e-mail asks for nothing', async () => {
    const { testBaseUrl } = await startSandbox();
    for (const word of ['jane.doe', 'failure', 'reviewer.x']) {
      const reply = await send('POST', `${testBaseUrl}/transaction`, decidedAs(word));
      expect(reply.body.decision).toBe('pass');
    }
  });

  it.each(DECISIONS)('answers the enriched response for %s when enrich is true', async (decision) => {
    const { testBaseUrl } = await startSandbox();
    const { body } = await send('POST', testBaseUrl, decidedAs(decision, { enrich: true }));
    expect(body).toMatchObject({ decision, account_mode: 'test', passive_mode: false });
    expect(typeof body.sub_status).toBe('string');
    expect(Object.keys(body.insights).sort()).toEqual(['neutral', 'recommendation', 'risk', 'trust']);
    for (const [group, insights] of Object.entries<Record<string, object>>(body.insights)) {
      for (const [index, insight] of Object.entries(insights)) {
        expect(index).toMatch(/^\d+$/);
        const fields = ['description', 'kind', 'name'];
        if (group === 'risk' || group === 'trust') fields.splice(1, 0, 'impact');
        expect(Object.keys(insight).sort()).toEqual(fields.sort());
        if ('impact' in insight) expect(['low', 'medium', 'high']).toContain(insight.impact);
      }
    }
  });

  it('takes both dialects: either path, either name of the key, either spelling of the fields', async () => {
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

  it('checks the fields of both spellings', async () => {
    const { testBaseUrl } = await startSandbox();
    for (const field of [{ cardAttempts: 'two' }, { card_attempts: 'two' }]) {
      const reply = await send('POST', testBaseUrl, transaction(field));
      expect(reply.status).toBe(400);
      expect(reply.body.Errors[0]).toMatch(/^card_attempts: /);
    }
  });

  it('needs billTo, which may be empty', async () => {
    const { testBaseUrl } = await startSandbox();
    for (const billTo of [undefined, null]) {
      const reply = await send('POST', `${testBaseUrl}/transaction`, transaction({ billTo }));
      expect([reply.status, reply.body]).toEqual([400, { Errors: ['Missing data, billTo field'] }]);
    }
    expect((await send('POST', testBaseUrl, transaction({ billTo: {} }))).status).toBe(200);
  });

  // Which fields are refused: test/screening/judged-alike.test.ts.
  it.each([
    ['no amount', { amount: undefined }],
    [
      'goods without shipTo',
      { merchant: { name: 'M', website: 'm.example', email: 'm@m.example', productType: 'Goods' } },
    ],
    ['neither card data nor result codes', { avsResultCode: undefined, cvvResultCode: undefined }],
    ['no payment and no result codes', { payment: undefined, avsResultCode: undefined }],
  ])('refuses %s, and makes no transaction', async (_, changes) => {
    const { testBaseUrl, control } = await startSandbox();
    const reply = await send('POST', `${testBaseUrl}/transaction`, transaction(changes));
    expect(reply.status).toBe(400);
    expect(reply.body.Errors.length).toBeGreaterThan(0);
    expect(control.transactions()).toEqual([]);
    expect(control.ledger()).toMatchObject([{ committed: false, outcome: { status: 400 } }]);
  });

  it('takes each key at its own address only', async () => {
    const { testBaseUrl, liveBaseUrl } = await startSandbox();
    const statusOf = async (url: string, key: unknown) =>
      send('POST', `${url}/transaction`, transaction({ 'nf-token': key, billTo: undefined }));
    for (const [url, key] of [
      [testBaseUrl, LIVE_KEY],
      [liveBaseUrl, TEST_KEY],
      [testBaseUrl, 'wrong'],
      [testBaseUrl, undefined],
    ] as const) {
      const reply = await statusOf(url, key);
      expect([reply.status, reply.body]).toEqual([403, { Errors: ['Not Authorized'] }]);
    }
    expect((await statusOf(liveBaseUrl, LIVE_KEY)).status).toBe(400);
  });

  it('takes test cards with a test key and real cards with a live key, and no others', async () => {
    const { testBaseUrl, liveBaseUrl, control } = await startSandbox();
    const real = { cardNumber: '4539578763621486' };
    const live = { 'nf-token': LIVE_KEY };
    const post = (url: string, body: object) => send('POST', `${url}/transaction`, body);

    expect((await post(testBaseUrl, card())).status).toBe(200);
    expect((await post(liveBaseUrl, { ...card(real), ...live })).status).toBe(200);
    const realAtTest = await post(testBaseUrl, card(real));
    expect(realAtTest.status).toBe(400);
    expect(realAtTest.body.Errors).toEqual(['Real card numbers are not accepted with a test key.']);
    const testAtLive = await post(liveBaseUrl, { ...card(), ...live });
    expect(testAtLive.status).toBe(400);
    expect(testAtLive.body.Errors).toEqual(['Test card numbers are not accepted with a live key.']);
    const misspelt = await post(liveBaseUrl, { ...card({ cardNumber: '4539578763621487' }), ...live });
    expect(misspelt.body.Errors).toEqual([expect.stringMatching(/valid card number/)]);
    expect(control.transactions().map(({ last4 }) => last4)).toEqual(['1111', '1486']);
  });

  it.each([
    { expirationDate: '01/20' },
    { expirationDate: '13/99' },
    { expirationDate: '2099-12' },
    { cardNumber: '4111111111111112' },
    { cardCode: '12' },
    { cardCode: undefined },
  ])('refuses card data with %o, without repeating it', async (changes) => {
    const { testBaseUrl } = await startSandbox();
    const reply = await send('POST', testBaseUrl, card(changes));
    expect(reply.status).toBe(400);
    expect(reply.text).not.toMatch(/41111111|2099|99/);
  });

  it('makes another transaction when the same order is sent again', async () => {
    const { testBaseUrl, control } = await startSandbox();
    await send('POST', testBaseUrl, transaction());
    await send('POST', testBaseUrl, transaction());
    expect(control.transactions('A-1')).toHaveLength(2);
  });

  it('answers a body that is no JSON with 400, and another type with 415, without repeating it', async () => {
    const { testBaseUrl } = await startSandbox();
    const broken = await send('POST', testBaseUrl, '{"cardNumber": 4111111111111111');
    expect(broken.status).toBe(400);
    expect(broken.body.Errors).toHaveLength(1);
    expect(broken.text).not.toContain('4111');
    const form = await send('POST', testBaseUrl, 'a=b', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(form.status).toBe(415);
  });

  it('answers an unknown path with 404, without repeating it', async () => {
    const { url } = await startSandbox();
    const reply = await send('GET', `${url}/test/state/${TEST_KEY}/1`);
    expect(reply.status).toBe(404);
    expect(reply.text).not.toContain(TEST_KEY);
  });
});
