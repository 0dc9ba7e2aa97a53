import { describe, expect, it } from 'vitest';
import { TEST_CARD } from '../fixtures/transactions.ts';
import {
  CHARGEBACK,
  CREATE,
  client,
  failureOf,
  ID,
  KEY,
  OPERATIONS,
  PORTAL,
  service,
  withService,
} from './client-harness.ts';

withService();

describe('a good reply', () => {
  it.each([
    ['definition', { account_mode: 'test', passive_mode: false, sub_status: 'x' }],
    ['sample', { accountMode: 'test', passiveMode: false, subStatus: 'x' }],
  ])('is read in the %s spelling, enriched', async (_dialect, fields) => {
    const insights = { risk: { 1: { name: 'n', description: 'd', kind: 'k', impact: 'high' } }, neutral: {} };
    service.answerJson(200, { id: ID, decision: 'fail', message: 'Sorry', ...fields, insights });
    expect(await client().statusById(ID)).toEqual({
      ...{ id: ID, decision: 'fail', message: 'Sorry' },
      ...{ accountMode: 'test', passiveMode: false, subStatus: 'x', insights },
    });
  });

  it('is good whatever else does not fit the document', async () => {
    service.answerJson(200, {
      id: ID,
      decision: 'pass',
      message: null,
      account_mode: 'gold',
      insights: [],
      new: 1,
    });
    expect(await client().statusById(ID)).toEqual({ id: ID, decision: 'pass' });
  });

  it.each(['', ' \n'])('has no message where it is %j, so that the policy’s is shown', async (message) => {
    service.answerJson(200, { id: ID, decision: 'fail', message });
    expect(await client().statusById(ID)).toEqual({ id: ID, decision: 'fail' });
  });

  it('keeps of its insights all that fits the document', async () => {
    const good = { name: 'n', kind: 'k', impact: 'high' };
    service.answerJson(200, {
      ...{ id: ID, decision: 'pass' },
      insights: {
        risk: {
          1: good,
          2: { ...good, impact: 'critical' },
          3: { ...good, impact: null },
          4: 'odd',
          5: null,
        },
        trust: [good],
        neutral: { 1: { ...good, description: null, name: 7 } },
        recommendation: null,
        other: { 1: good },
      },
    });
    const { impact: _weighed, ...plain } = good;
    expect((await client().statusById(ID)).insights).toEqual({
      risk: { 1: good, 2: plain, 3: plain },
      neutral: { 1: { kind: 'k' } },
    });
  });

  it('is bounded, and repeats neither key nor card where the service speaks freely', async () => {
    const echo = `${Object.values(TEST_CARD).join(' ')} ${KEY} ${'x'.repeat(1000)}`;
    const insight = { name: echo, description: echo, kind: echo };
    const risk = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}`, insight]));
    const insights = { risk, neutral: { [KEY]: { kind: TEST_CARD.cardCode } } };
    service.answerJson(200, { id: ID, decision: 'pass', sub_status: echo, insights });
    const shown = '[removed] [removed] [removed] [removed] '.padEnd(300, 'x');
    const reply = await client().createTransaction(CREATE);
    expect(reply.subStatus).toBe(shown);
    expect(Object.values(reply.insights?.risk ?? {})).toEqual(
      Array(17).fill({ name: shown, description: shown, kind: shown }),
    );
    expect(reply.insights?.neutral).toEqual({ '[removed]': { kind: '[removed]' } });
  });

  it.each([200, '200'])('of the portal has code %j, number or string', async (code) => {
    service.answerJson(200, { code, message: 'customer code created successfully' });
    const reply = await client().customerCode({ customerCode: 'c', email: 'pass@example.com' });
    expect(reply).toEqual({ code: 200, message: 'customer code created successfully' });
  });

  it('of submit-chargeback echoes the fields', async () => {
    const sent = { transaction_id: ID, reason_code: '4837', nf_token: KEY, inquiry: 'false' };
    const chargeback = { ...sent, notes: `sent with ${KEY}`, carrier: 7 };
    service.answerJson(200, { code: '200', chargeback });
    expect(await client().submitChargeback(CHARGEBACK)).toEqual({
      code: 200,
      chargeback: { transaction_id: ID, reason_code: '4837', inquiry: 'false' },
    });
  });
});

describe('a reply that says a lot', () => {
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

  it('is kept within 16 KiB: the strongest insights first, the rest is counted', async () => {
    const many = (impact: string) =>
      Object.fromEntries(
        Array.from({ length: 120 }, (_, index) => [
          `${impact}${index}`,
          { name: 'é'.repeat(150), description: '€'.repeat(300), impact },
        ]),
      );
    const insights = {
      neutral: many('none'),
      trust: many('low'),
      risk: { ...many('medium'), last: { name: 'strong', impact: 'high' } },
    };
    const sub_status = '€'.repeat(5_000);
    service.answerJson(200, { id: ID, decision: 'fail', message: '€'.repeat(5_000), sub_status, insights });
    const reply = await client().statusById(ID);
    expect(bytesOf(reply)).toBeLessThanOrEqual(20 * 1024);
    expect(bytesOf(reply.insights)).toBeLessThanOrEqual(16 * 1024);
    expect(reply.insights?.risk).toMatchObject({ last: { name: 'strong', impact: 'high' } });
    expect(reply.insights).toMatchObject({ trust: {}, neutral: {} });
    expect(Object.keys({ ...reply.insights?.trust, ...reply.insights?.neutral })).toEqual([]);
    expect(reply.insightsLeftOut).toBe(361 - Object.keys(reply.insights?.risk ?? {}).length);
  });

  it('of a chargeback echoes at most 1 KiB', async () => {
    const chargeback = { transaction_id: ID, notes: '€'.repeat(4_000), carrier: 'x'.repeat(900) };
    service.answerJson(200, { code: 200, chargeback });
    const reply = await client().submitChargeback(CHARGEBACK);
    expect(bytesOf(reply.chargeback)).toBeLessThanOrEqual(1024);
    expect(reply.chargeback).toMatchObject({ transaction_id: ID });
  });
});

describe('a reply about another transaction', () => {
  const OTHER = '9d9d9d9d-1b2c-4d5e-8f90-0123456789ab';

  it.each([{ decision: 'pass' }, { decision: 'unheard of' }])(
    'is no status of the one that was asked for: %j',
    async (rest) => {
      service.answerJson(200, { id: OTHER, ...rest });
      const error = await failureOf(client().statusById(ID));
      expect(error).toMatchObject({ outcome: 'unknown', reason: 'other-transaction' });
      expect(error.transactionId).toBeUndefined();
      expect(error.message).not.toContain(OTHER);
    },
  );

  it('confirms no chargeback', async () => {
    service.answerJson(200, { code: 200, chargeback: { transaction_id: OTHER, reason_code: '4837' } });
    expect(await failureOf(client().submitChargeback(CHARGEBACK))).toMatchObject({
      outcome: 'unknown',
      reason: 'other-transaction',
    });
  });

  it('is not one that spells the same id in capitals', async () => {
    const id = ID.toUpperCase();
    service.answerJson(200, { id, decision: 'pass' });
    expect(await client().statusById(ID)).toEqual({ id, decision: 'pass' });
    service.answerJson(200, { code: 200, chargeback: { transaction_id: id } });
    expect(await client().submitChargeback(CHARGEBACK)).toMatchObject({ code: 200 });
  });
});

describe('a reply that says no', () => {
  const status: [number, Record<string, string>, object][] = [
    [400, {}, { outcome: 'refused', reason: 'bad-request' }],
    [401, {}, { outcome: 'refused', reason: 'bad-request' }],
    [403, {}, { outcome: 'refused', reason: 'bad-request' }],
    [405, {}, { outcome: 'unknown', reason: 'malformed-reply' }],
    [408, {}, { outcome: 'unknown', reason: 'timeout' }],
    [422, {}, { outcome: 'refused', reason: 'bad-request' }],
    [429, {}, { outcome: 'not-done', reason: 'rate-limited' }],
    [429, { 'retry-after': '7' }, { outcome: 'not-done', reason: 'rate-limited', retryAfterMs: 7000 }],
    [500, {}, { outcome: 'unknown', reason: 'http-5xx' }],
    [503, { 'retry-after': '1' }, { outcome: 'unknown', reason: 'http-5xx', retryAfterMs: 1000 }],
    [504, {}, { outcome: 'unknown', reason: 'timeout' }],
    [302, { location: '/elsewhere' }, { outcome: 'unknown', reason: 'redirect' }],
  ];
  describe.each(OPERATIONS)('%s', (operation, call) => {
    it.each(status)('with HTTP %i %j is %j', async (code, headers, expected) => {
      service.answerJson(code, { Errors: ['In words'] }, headers);
      const error = await failureOf(call(client()));
      expect(error).toMatchObject({ operation, status: code, words: ['In words'], ...expected });
      expect(service.seen).toHaveLength(1);
    });
  });

  it('obeys a Retry-After that is a date', async () => {
    service.answerJson(429, {}, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    const { retryAfterMs } = await failureOf(client().statusById(ID));
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it.each(['soon', '-5', '1.5e'])('knows no waiting time from Retry-After "%s"', async (header) => {
    service.answerJson(429, {}, { 'retry-after': header });
    const error = await failureOf(client().statusById(ID));
    expect(error.retryAfterMs === undefined || error.retryAfterMs === 0).toBe(true);
  });

  it.each([
    [403, { outcome: 'refused', reason: 'portal-refused', code: 403 }],
    ['404', { outcome: 'refused', reason: 'portal-refused', code: 404 }],
    [201, { outcome: 'unknown', reason: 'malformed-reply', code: 201 }],
    [302, { outcome: 'refused', reason: 'portal-refused', code: 302 }],
    [0, { outcome: 'refused', reason: 'portal-refused', code: 0 }],
    ['0', { outcome: 'refused', reason: 'portal-refused', code: 0 }],
    ['1042', { outcome: 'unknown', reason: 'portal-5xx', code: 1042 }],
    [429, { outcome: 'not-done', reason: 'rate-limited', code: 429 }],
    ['500', { outcome: 'unknown', reason: 'portal-5xx', code: 500 }],
    [503, { outcome: 'unknown', reason: 'portal-5xx', code: 503 }],
    ['fine', { outcome: 'unknown', reason: 'malformed-reply' }],
    [undefined, { outcome: 'unknown', reason: 'malformed-reply' }],
  ])('of the portal with HTTP 200 and code %j is %j', async (code, expected) => {
    service.answerJson(200, { code, message: 'In words' });
    for (const [operation, call] of PORTAL) {
      expect(await failureOf(call(client()))).toMatchObject({
        ...{ operation, status: 200, words: ['In words'] },
        ...expected,
      });
    }
  });

  it('shows bounded words without key, card, addresses and e-mail addresses', async () => {
    const echo = JSON.stringify({ ...CREATE, key: KEY });
    const words = [
      echo,
      `code 123, not 1234, ${encodeURIComponent(KEY)} 4111-1111 1111 1111`,
      'x'.repeat(5000),
    ];
    service.answerJson(400, {
      Errors: [...words, `see https://host/status/${KEY}`, ...Array(50).fill('more')],
    });
    const error = await failureOf(client().createTransaction(CREATE));
    expect(error.words).toHaveLength(10);
    expect(error.words?.every((word) => word.length <= 300)).toBe(true);
    expect(error.words?.[1]).toBe('code [removed], not 1234, [removed] [removed]');
  });
});

describe('a decision that can not be used', () => {
  it.each([
    { id: ID },
    { id: ID, decision: 'PASS' },
    { id: ID, decision: 'approved' },
    { id: ID, decision: null },
  ])('as in %j keeps the id', async (body) => {
    service.answerJson(200, body);
    expect(await failureOf(client().createTransaction(CREATE))).toMatchObject({
      ...{ outcome: 'unknown', reason: 'unknown-decision', transactionId: ID, status: 200 },
    });
  });

  it.each([
    {},
    { decision: 'pass' },
    { id: '', decision: 'pass' },
    { id: 7, decision: 'pass' },
    { Errors: ['In words'] },
  ])('as in %j has no id', async (body) => {
    service.answerJson(200, body);
    const error = await failureOf(client().createTransaction(CREATE));
    expect(error).toMatchObject({ outcome: 'unknown', reason: 'missing-id' });
    expect(error.transactionId).toBeUndefined();
  });
});
