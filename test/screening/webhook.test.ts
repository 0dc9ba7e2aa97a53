import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readWebhook } from '../../src/screening/index.ts';
import { property } from '../support/property.ts';

const ID = '3f2c1a00-1b2c-4d5e-8f90-0123456789ab';
const OTHER = '00000000-1b2c-4d5e-8f90-0123456789ab';
const FOUND = { transactionId: ID, invoiceNumber: '1001', decision: 'pass' };
const URL_OF_ID = `https://portal.example.com/transaction/${ID}`;
const FORM = 'application/x-www-form-urlencoded';

describe('a webhook is understood', () => {
  it.each([
    { id: ID, decision: 'pass', invoiceNumber: '1001' },
    { id: URL_OF_ID, decision: 'pass', invoiceNumber: '#1001' },
    { id: ID, decision: 'pass', invoiceNumber: 1001 },
    { event: { transaction: { id: ID, decision: 'PASS', order: { invoice_number: '#1001' } } } },
    [{ transaction_id: ID, status: 'pass', order_id: '1001' }],
    { transactionId: ID, status: 'pass', orderId: '1001' },
    { 'nf-id': ID, status: 'pass', 'invoice-number': '1001' },
  ])('as JSON: %j', (body) => {
    expect(readWebhook({ contentType: 'application/json', body: JSON.stringify(body) })).toEqual(FOUND);
  });

  it.each([
    `{"id":${URL_OF_ID},"decision":pass,"invoiceNumber":#1001}`,
    `{"id":${ID},"decision":pass,"invoiceNumber":1001}`,
    `{ "id" : ${URL_OF_ID}?a=1,2&b={x} , "decision" : "pass" , "invoiceNumber" : "#1001" }`,
    `{id: ${ID}, decision: pass, invoiceNumber: #1001}`,
    `{"invoice":"#1001","decision":pass,"id":"${ID}"`,
    `\n  {"transaction":{"id":${ID}},"order":{"invoice_number":#1001},"status":pass}`,
  ])('as a template filled in without quotes: %s', (body) => {
    expect(readWebhook({ body })).toEqual(FOUND);
    expect(readWebhook({ contentType: 'text/plain', body: Buffer.from(body) })).toEqual(FOUND);
    expect(readWebhook({ contentType: FORM, body })).toEqual(FOUND);
  });

  it.each([
    `id=${ID}&decision=pass&invoice_number=%231001`,
    `transaction_url=${encodeURIComponent(URL_OF_ID)}&status=pass&order_id=1001`,
    `payload=${encodeURIComponent(JSON.stringify({ id: ID, decision: 'pass', invoiceNumber: '1001' }))}`,
  ])('as a form or a query: %s', (text) => {
    expect(readWebhook({ contentType: FORM, body: text })).toEqual(FOUND);
    expect(readWebhook({ query: text })).toMatchObject(text.startsWith('payload') ? {} : FOUND);
    expect(readWebhook({ query: new URLSearchParams(text) })).toEqual(readWebhook({ query: text }));
  });

  it('as a parsed query beside a body', () => {
    const body = `{"id":"${ID}","decision":"pass"}`;
    expect(readWebhook({ query: { invoice: ['#1001'] }, body })).toEqual(FOUND);
  });

  it.each([OTHER, `order-${OTHER}`])(
    'with the invoice number %s, which is no transaction',
    (invoiceNumber) => {
      const order = { invoice_number: `#${invoiceNumber}` };
      for (const body of [
        `{"decision":pass,"invoiceNumber":${invoiceNumber}}`,
        JSON.stringify({ decision: 'pass', order }),
        `decision=pass&order_id=${invoiceNumber}`,
        `payload=${encodeURIComponent(JSON.stringify({ decision: 'pass', order: invoiceNumber }))}`,
      ]) {
        expect(readWebhook({ body })).toEqual({ invoiceNumber, decision: 'pass' });
      }
      const body = `{"about":${URL_OF_ID},"order":${invoiceNumber},"decision":pass}`;
      expect(readWebhook({ body })).toEqual({ ...FOUND, invoiceNumber });
    },
  );

  it.each<[body: string, hint: object]>([
    [`{"reference":https://host.example.com/t/${ID},"status":pass}`, { transactionId: ID, decision: 'pass' }],
    [`Transaction ${ID} changed`, { transactionId: ID }],
    [JSON.stringify({ eventId: OTHER, id: OTHER, transaction_id: ID }), { transactionId: ID }],
    ...['007', '12345678901234567890', '1e5'].map((number): [string, object] => [
      `{"invoiceNumber":${number}}`,
      { invoiceNumber: number },
    ]),
    // Nothing to believe.
    ['{"id":%transaction_url%,"decision":%status%,"invoiceNumber":%invoice_number%}', {}],
    ['{"id":null,"decision":null,"invoiceNumber":null}', {}],
    ['{"id":"","decision":"","invoiceNumber":"#"}', {}],
    ['', {}],
    [JSON.stringify({ decision: 'shipped', invoiceNumber: 'x'.repeat(65) }), {}],
  ])('as is: %s', (body, hint) => {
    expect(readWebhook({ body })).toEqual(hint);
  });

  it('without a secret that looks like an id', () => {
    expect(readWebhook({ query: { secret: OTHER, token: OTHER } })).toEqual({});
  });

  it.each([
    { id: OTHER, data: { transaction: { id: ID } } },
    { data: { transaction: { id: ID } }, id: OTHER },
    { id: OTHER, type: 'transaction.updated', data: { id: ID } },
    { customer: { id: OTHER }, transaction: { uuid: ID } },
    { customer: { id: OTHER }, transaction: { url: URL_OF_ID } },
  ])('and prefers the transaction’s own id to that of the envelope or of a customer: %j', (body) => {
    expect(readWebhook({ body: JSON.stringify(body) })).toEqual({ transactionId: ID });
  });
});

property([fc.stringMatching(/^[A-Z0-9][A-Za-z0-9_-]{0,30}$/), fc.uuid()])(
  'what a template without quotes holds is found',
  (number, id) => {
    const body = `{"id":https://host.example.com/t/${id},"decision":review,"invoiceNumber":#${number}}`;
    expect(readWebhook({ body })).toEqual({ transactionId: id, decision: 'review', invoiceNumber: number });
  },
);

it.each(['[', '{"a":', '"', '{"":', '{,', '%'])('64 KiB of %s are read in time', (piece) => {
  expect(readWebhook({ body: piece.repeat(65_536 / piece.length) })).toEqual({});
});
