import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readWebhook } from '../../src/screening/index.ts';
import { property } from '../support/property.ts';

const ID = '3f2c1a00-1b2c-4d5e-8f90-0123456789ab';
const OTHER = '00000000-1b2c-4d5e-8f90-0123456789ab';
const FOUND = { transactionId: ID, invoiceNumber: '1001', decision: 'pass' };
const URL_OF_ID = `https://portal.example.com/transaction/${ID}`;

describe('a webhook is understood', () => {
  it.each([
    ['JSON', { id: ID, decision: 'pass', invoiceNumber: '1001' }],
    ['JSON with an address for id', { id: URL_OF_ID, decision: 'pass', invoiceNumber: '#1001' }],
    ['JSON with a number', { id: ID, decision: 'pass', invoiceNumber: 1001 }],
    [
      'nested JSON',
      { event: { transaction: { id: ID, decision: 'PASS', order: { invoice_number: '#1001' } } } },
    ],
    ['a list', [{ transaction_id: ID, status: 'pass', order_id: '1001' }]],
    ['camel case', { transactionId: ID, status: 'pass', orderId: '1001' }],
    ['other names', { 'nf-id': ID, status: 'pass', 'invoice-number': '1001' }],
  ])('as %s', (_shape, body) => {
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
    expect(readWebhook({ contentType: 'application/x-www-form-urlencoded', body })).toEqual(FOUND);
  });

  it.each([
    `id=${ID}&decision=pass&invoice_number=%231001`,
    `transaction_url=${encodeURIComponent(URL_OF_ID)}&status=pass&order_id=1001`,
    `payload=${encodeURIComponent(JSON.stringify({ id: ID, decision: 'pass', invoiceNumber: '1001' }))}`,
  ])('as a form or a query: %s', (text) => {
    expect(readWebhook({ contentType: 'application/x-www-form-urlencoded', body: text })).toEqual(FOUND);
    expect(readWebhook({ query: text })).toMatchObject(text.startsWith('payload') ? {} : FOUND);
    expect(readWebhook({ query: new URLSearchParams(text) })).toEqual(readWebhook({ query: text }));
  });

  it('as a parsed query beside a body', () => {
    expect(readWebhook({ query: { invoice: ['#1001'] }, body: `{"id":"${ID}","decision":"pass"}` })).toEqual(
      FOUND,
    );
  });

  it.each([OTHER, `order-${OTHER}`])(
    'with the invoice number %s, which is no transaction',
    (invoiceNumber) => {
      const bodies = [
        `{"decision":pass,"invoiceNumber":${invoiceNumber}}`,
        JSON.stringify({ decision: 'pass', order: { invoice_number: `#${invoiceNumber}` } }),
        `decision=pass&order_id=${invoiceNumber}`,
        `payload=${encodeURIComponent(JSON.stringify({ decision: 'pass', order: invoiceNumber }))}`,
      ];
      for (const body of bodies) expect(readWebhook({ body })).toEqual({ invoiceNumber, decision: 'pass' });
      expect(
        readWebhook({ body: `{"about":${URL_OF_ID},"order":${invoiceNumber},"decision":pass}` }),
      ).toEqual({
        ...FOUND,
        invoiceNumber,
      });
    },
  );

  it('with a transaction’s address where an invoice number might be', () => {
    const reference = `https://host.example.com/t/${ID}`;
    expect(readWebhook({ body: `{"reference":${reference},"status":pass}` })).toEqual({
      transactionId: ID,
      decision: 'pass',
    });
  });

  it('as bare text', () => {
    expect(readWebhook({ body: `Transaction ${ID} changed` })).toEqual({ transactionId: ID });
  });
});

describe('a webhook is not believed where it says nothing', () => {
  it.each([
    '{"id":%transaction_url%,"decision":%status%,"invoiceNumber":%invoice_number%}',
    '{"id":null,"decision":null,"invoiceNumber":null}',
    '{"id":"","decision":"","invoiceNumber":"#"}',
    '',
  ])('as with %s', (body) => {
    expect(readWebhook({ body })).toEqual({});
  });

  it('as with a secret that looks like an id', () => {
    expect(readWebhook({ query: { secret: OTHER, token: OTHER } })).toEqual({});
  });

  it('as with a decision that is none of the five, or an invoice number that is too long', () => {
    expect(
      readWebhook({ body: JSON.stringify({ decision: 'shipped', invoiceNumber: 'x'.repeat(65) }) }),
    ).toEqual({});
  });

  it('and prefers the field that names the transaction', () => {
    expect(readWebhook({ body: JSON.stringify({ eventId: OTHER, id: OTHER, transaction_id: ID }) })).toEqual({
      transactionId: ID,
    });
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

  it.each(['007', '12345678901234567890', '1e5'])('and takes the number %s as it is written', (number) => {
    expect(readWebhook({ body: `{"invoiceNumber":${number}}` })).toEqual({ invoiceNumber: number });
  });
});

describe('reading a webhook never fails', () => {
  property([
    fc
      .stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$/)
      .filter((number) => !['null', 'undefined'].includes(number)),
    fc.uuid(),
  ])('and finds what a template without quotes holds', (number, id) => {
    const body = `{"id":https://host.example.com/t/${id},"decision":review,"invoiceNumber":#${number}}`;
    expect(readWebhook({ body })).toEqual({ transactionId: id, decision: 'review', invoiceNumber: number });
  });

  it.each(['[', '{"a":', '"', '{"":', '{,', '%'])('on 64 KiB of %s', (piece) => {
    expect(readWebhook({ body: piece.repeat(65_536 / piece.length) })).toEqual({});
  });
});
