import { describe, expect, it } from 'vitest';
import { TEST_CARD } from '../fixtures/transactions.ts';
import { CHARGEBACK, CREATE, client, failureOf, ID, KEY, service, withService } from './client-harness.ts';

withService();

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const OTHER = '9d9d9d9d-1b2c-4d5e-8f90-0123456789ab';
const good = { name: 'n', kind: 'k', impact: 'high' };
const plain = { name: 'n', kind: 'k' };

describe('a good reply', () => {
  const inCamelCase = { accountMode: 'test', passiveMode: false, subStatus: 'x' };
  const weights = { 2: { ...good, impact: 'critical' }, 3: { ...good, impact: null } };
  it.each<[reply: object, read: object]>([
    [{ account_mode: 'test', passive_mode: false, sub_status: 'x' }, inCamelCase],
    [{ message: 'Sorry' }, { message: 'Sorry' }],
    [inCamelCase, inCamelCase],
    // What does not fit the interface is left out.
    [{ message: null, account_mode: 'gold', insights: [], new: 1 }, {}],
    [{ message: ' \n' }, {}],
    [
      { insights: { risk: { 1: good, ...weights, 4: 'odd', 5: null } } },
      { insights: { risk: { 1: good, 2: plain, 3: plain } } },
    ],
    [
      { insights: { trust: [good], neutral: { 1: { ...good, name: 7 } }, other: {} } },
      { insights: { neutral: { 1: { kind: 'k' } } } },
    ],
  ])('with %j is read as %j', async (reply, read) => {
    service.answerJson(200, { id: ID, decision: 'fail', ...reply });
    expect(await client().statusById(ID)).toEqual({ id: ID, decision: 'fail', ...read });
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
    const kept = Array(17).fill({ name: shown, description: shown, kind: shown });
    expect(Object.values(reply.insights?.risk ?? {})).toEqual(kept);
    expect(reply.insights?.neutral).toEqual({ '[removed]': { kind: '[removed]' } });
  });

  it('is kept within 16 KiB: the strongest insights first, the rest is counted', async () => {
    const text = { name: 'é'.repeat(150), description: '€'.repeat(300) };
    const many = (impact: string, length = 120) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`${impact}${index}`, { ...text, impact }]));
    const risk = { ...many('medium', 3), last: { name: 'strong', impact: 'high' } };
    const insights = { neutral: many('none'), trust: many('low'), risk: { unweighed: text, ...risk } };
    const long = '€'.repeat(5_000);
    service.answerJson(200, { id: ID, decision: 'fail', message: long, sub_status: long, insights });
    const reply = await client().statusById(ID);
    expect(bytesOf(reply)).toBeLessThanOrEqual(20 * 1024);
    expect(bytesOf(reply.insights)).toBeLessThanOrEqual(16 * 1024);
    // Those without an impact come last.
    expect(reply.insights).toEqual({ risk, trust: expect.anything(), neutral: {} });
    const trusted = Object.keys(reply.insights?.trust ?? {}).length;
    expect(trusted).toBeGreaterThan(0);
    expect(reply.insightsLeftOut).toBe(241 - trusted);
  });

  it('is kept without any card number, whatever its disguise', async () => {
    const said = 'seen before: 4111 1111 1111 1111, ④①①①①①①①①①①①①①①①, 4111,1111,1111,1111';
    const insights = { risk: { 1: { name: said, description: said, kind: said, impact: 'high' } } };
    service.answerJson(200, { id: ID, decision: 'fail', message: said, sub_status: said, insights });
    const reply = JSON.stringify(await client().status('1001'));
    expect(reply).toContain('seen before');
    const chargeback = { transaction_id: ID, notes: said, carrier: 'UPS' };
    service.answerJson(200, { code: 200, message: said, chargeback });
    const { chargeback: kept, ...done } = await client().submitChargeback(CHARGEBACK);
    expect(kept).toEqual({ transaction_id: ID, carrier: 'UPS' });
    for (const shown of [reply, JSON.stringify(done)])
      expect(shown.normalize('NFKC').replace(/\D/g, '')).not.toContain('41111111');
  });

  it('of submit-chargeback echoes the fields, up to 1 KiB and without the key', async () => {
    const sent = { transaction_id: ID, reason_code: '4837', inquiry: 'false' };
    const more = {
      nf_token: KEY,
      notes: `with ${KEY}`,
      carrier: 7,
      long: 'x'.repeat(900),
      last: 'x'.repeat(200),
    };
    service.answerJson(200, { code: '200', chargeback: { ...sent, ...more } });
    const chargeback = { ...sent, long: more.long };
    expect(await client().submitChargeback(CHARGEBACK)).toEqual({ code: 200, chargeback });
  });
});

describe('a reply about another transaction', () => {
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

  it('confirms no chargeback, but one with the same id in capitals does', async () => {
    service.answerJson(200, { code: 200, chargeback: { transaction_id: OTHER, reason_code: '4837' } });
    const other = { outcome: 'unknown', reason: 'other-transaction' };
    expect(await failureOf(client().submitChargeback(CHARGEBACK))).toMatchObject(other);
    service.answerJson(200, { code: 200, chargeback: { transaction_id: ID.toUpperCase() } });
    expect(await client().submitChargeback(CHARGEBACK)).toMatchObject({ code: 200 });
    service.answerJson(200, { id: ID.toUpperCase(), decision: 'pass' });
    expect(await client().statusById(ID)).toEqual({ id: ID.toUpperCase(), decision: 'pass' });
  });
});

describe('a reply that says no', () => {
  it.each<[header: string, from: number | undefined, to: number | undefined]>([
    [new Date(Date.now() + 600_000).toUTCString(), 500_000, 600_000],
    ['soon', undefined, undefined],
    ['1.5e', undefined, undefined],
    ['-5', undefined, undefined],
    ['32.5', 32_500, 32_500],
    ['1.5', 1_500, 1_500],
  ])('has a waiting time by Retry-After "%s"', async (header, from, to) => {
    service.answerJson(429, {}, { 'retry-after': header });
    const { retryAfterMs } = await failureOf(client().statusById(ID));
    if (from === undefined || to === undefined) expect(retryAfterMs).toBeUndefined();
    else expect(retryAfterMs === Math.min(to, Math.max(from, Number(retryAfterMs)))).toBe(true);
  });

  it.each([{ Status: 'ERROR' }, { Status: null }, {}])(
    'of the gateway’s result with HTTP 200 is %j: it has not arrived for certain',
    async (body) => {
      service.answerJson(200, body);
      const error = await failureOf(client().gatewayResponse({ transactionId: ID, result: 'pass' }));
      expect(error).toMatchObject({ outcome: 'unknown', reason: 'malformed-reply', status: 200 });
    },
  );

  it('shows bounded words without key, card, addresses and e-mail addresses', async () => {
    const spelled = `code 123, not 1234, ${encodeURIComponent(KEY)} 4111-1111 1111 1111`;
    const words = [JSON.stringify({ ...CREATE, key: KEY }), spelled, 'x'.repeat(5000)];
    const more = Array(50).fill(`see https://host/status/${KEY}`);
    service.answerJson(400, { Errors: [...words, ...more] });
    const error = await failureOf(client().createTransaction(CREATE));
    expect(error.words).toHaveLength(10);
    expect(error.words?.every((word) => word.length <= 300)).toBe(true);
    expect(error.words?.[1]).toBe('code [removed], not 1234, [removed] [removed]');
  });
});

it.each([
  [{ id: ID }, 'unknown-decision', ID],
  [{ id: ID, decision: 'PASS' }, 'unknown-decision', ID],
  [{ id: ID, decision: 'approved' }, 'unknown-decision', ID],
  [{ id: ID, decision: null }, 'unknown-decision', ID],
  [{}, 'missing-id', undefined],
  [{ decision: 'pass' }, 'missing-id', undefined],
  [{ id: '', decision: 'pass' }, 'missing-id', undefined],
  [{ id: 7, decision: 'pass' }, 'missing-id', undefined],
  [{ Errors: ['In words'] }, 'missing-id', undefined],
])('the decision in %j can not be used: %s', async (body, reason, transactionId) => {
  service.answerJson(200, body);
  const error = await failureOf(client().createTransaction(CREATE));
  expect(error).toMatchObject({ outcome: 'unknown', reason, status: 200 });
  expect(error.transactionId).toBe(transactionId);
});
