import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { readWebhook } from '../../src/screening-service/index.ts';
import { property } from '../support/property.ts';

const ID = '3f2c1a00-1b2c-4d5e-8f90-0123456789ab';
const OTHER = '00000000-1b2c-4d5e-8f90-0123456789ab';
const ADDRESS = `https://portal.example.com/transaction/${ID}`;
const FOUND = { transactionIds: [ID], invoiceNumbers: ['1001'] };
const NOTHING = { transactionIds: [], invoiceNumbers: [] };

const read = (body: string | object, encoding?: string) =>
  readWebhook({
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    contentEncoding: encoding,
  });

const part = (name: string, value: string, headers = '') =>
  `Content-Disposition: form-data; name="${name}"\r\n${headers}\r\n${value}\r\n--b\r\n`;

describe('the ids of a webhook are found', () => {
  it.each<[shape: string, body: string | object]>([
    ['JSON', { id: ID, decision: 'pass', invoiceNumber: '1001' }],
    ['an address, a #', { id: ADDRESS, invoiceNumber: '#1001' }],
    ['a number', { id: ID, invoiceNumber: 1001 }],
    ['nested JSON', { event: { transaction: { id: ID, order: { invoice_number: '#1001' } } } }],
    ['a list', [{ transaction_id: ID, order_id: '1001' }]],
    ['other names', { 'nf-id': ID, 'invoice-number': '1001' }],
    ['capitals', { ID: ID.toUpperCase(), InvoiceNumber: '1001' }],
    ['a template without quotes', `{"id":${ADDRESS},"decision":pass,"invoiceNumber":#1001}`],
    ['a template with spaces', `{ "id" : ${ADDRESS}?a=1,2&b={x} , "invoiceNumber" : "#1001" }`],
    ['names without quotes', `{id: ${ID}, decision: pass, invoiceNumber: #1001}`],
    ['XML', `<webhook><id>${ID}</id><ns:invoiceNumber type="text">#1001</ns:invoiceNumber></webhook>`],
    ['XML with line breaks and CDATA', `<id>${ID}</id>\n<order_id>\n  <![CDATA[1001]]>\n</order_id>`],
    ['a multipart form', `--b\r\n${part('id', ID)}${part('invoiceNumber', '1001')}--b--\r\n`],
    [
      'a multipart form with other headers',
      `--b\n${part('id', ID)}${part('invoiceNumber', '1001', 'Content-Type: text/plain\r\n')}`,
    ],
    ['an object named like an invoice', { id: ID, invoice: { total: { id: 1 }, number: '1001' } }],
    ['half an object', `{"invoice":"#1001","decision":pass,"id":"${ID}"`],
    ['a form', `id=${ID}&decision=pass&invoice_number=%231001`],
    ['an address in a form', `transaction_url=${encodeURIComponent(ADDRESS)}&order_id=1001`],
    ['JSON in a form', `payload=${encodeURIComponent(JSON.stringify({ id: ID, invoiceNumber: '1001' }))}`],
    [
      'JSON in a string of JSON',
      { Type: 'Notification', Message: JSON.stringify({ id: ID, order: '1001' }) },
    ],
    ['JSON in JSON in JSON', { a: JSON.stringify({ b: JSON.stringify({ id: ID, order: '1001' }) }) }],
    [
      'base64 in JSON',
      { message: { data: Buffer.from(`{"id":"${ID}","invoiceNumber":"1001"}`).toString('base64') } },
    ],
  ])('in %s', (_shape, body) => {
    expect(read(body)).toEqual(FOUND);
  });

  it.each([
    ['a slash that JSON escapes, as PHP does', '{"invoiceNumber":"2026\\/1001"}', '2026/1001'],
    ['a letter that JSON escapes', '{"invoiceNumber":"\\u00dc-1001"}', 'Ü-1001'],
    ['an escaped # in a string of JSON', '{"a":"{\\"invoice\\":\\"\\\\u00231001\\"}"}', '1001'],
    ['a space in a form', 'id=1&invoiceNumber=A+1001', 'A 1001'],
    ['an object in a form', 'order[invoiceNumber]=A%201001', 'A 1001'],
    ['an encoded object in a form', 'order%5Binvoice_number%5D=A%201001', 'A 1001'],
  ])('with %s', (_written, body, number) => {
    expect(read(body)?.invoiceNumbers).toContain(number);
  });

  const json = `{"id":"${ID}","order":"1001"}`;
  it.each([
    ['with a mark', `\ufeff${json}`],
    ['without a mark', json],
    ['without a mark, after a line break', `\r\n${json}`],
    ['without a mark, after text in another script', `注文: ${json}`],
    ['with a mark, after text in another script', `\ufeff注文: ${json}`],
  ])('in UTF-16, little and big-endian, and UTF-8 %s', (_mark, text) => {
    const little = Buffer.from(text, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const body of [little, big, Buffer.from(text), Buffer.from(`${text}\0\0`)]) {
      expect(readWebhook({ body })).toEqual(FOUND);
    }
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('compressed by %s', (contentEncoding, compress) => {
    const body = compress(JSON.stringify({ id: ID, invoiceNumber: '1001' }));
    expect(readWebhook({ contentEncoding, body })).toEqual(FOUND);
    expect(readWebhook({ contentEncoding, body: body.subarray(4) })).toBeUndefined();
  });

  it('in the query', () => {
    expect(readWebhook({ query: `id=${ID}&invoice=%231001` })).toEqual(FOUND);
    expect(readWebhook({ query: 'invoice=1001', body: Buffer.from(`{"id":"${ID}"}`) })).toEqual(FOUND);
  });

  it('although the first id is the event’s', () => {
    expect(read({ id: OTHER, data: { object: { id: ID } } })?.transactionIds).toEqual([OTHER, ID]);
  });

  it('of every item of a batch', () => {
    expect(
      read([
        { id: ID, order: 1 },
        { id: OTHER, order: 2 },
      ]),
    ).toEqual({
      transactionIds: [ID, OTHER],
      invoiceNumbers: ['1', '2'],
    });
  });

  it.each(['007', '12345678901234567890', '1e5'])('with the number %s as it is written', (number) => {
    expect(read(`{"invoiceNumber":${number}}`)?.invoiceNumbers).toEqual([number]);
  });

  property([
    fc
      .stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$/)
      .filter((number) => !['null', 'undefined'].includes(number)),
    fc.uuid(),
  ])('in every template without quotes', (number, id) => {
    const body = `{"id":https://host.example.com/t/${id},"decision":review,"invoiceNumber":#${number}}`;
    expect(read(body)).toEqual({ transactionIds: [id], invoiceNumbers: [number] });
  });
});

describe('nothing is found', () => {
  it.each([
    '{"id":%transaction_url%,"decision":%status%,"invoiceNumber":%invoice_number%}',
    '{"id":null,"decision":null,"invoiceNumber":null}',
    '{"id":"","decision":"","invoiceNumber":"#"}',
    '',
    `{"reference":"${ADDRESS.replace(ID, '1')}"}`,
    { invoice: { total: 1, customer: { number: '7' } }, number: '8' },
    '<invoice><number>7</number></invoice><order></order>',
    { decision: 'shipped', invoiceNumber: 'x'.repeat(65) },
    { secret: OTHER, api_token: OTHER },
  ])('in %j', (body) => {
    expect(read(body)).toEqual(NOTHING);
  });

  it('in a secret of the query', () => {
    expect(readWebhook({ query: `secret=${OTHER}&token=${OTHER}` })).toEqual(NOTHING);
  });

  it.each([
    '<a>',
    '<a ',
    '<a:',
    ';name="a"\n',
    ';name="a"\na:\n',
    'a:{',
    '[',
    '{"a":',
    '"',
    '{"":',
    '{,',
    '%',
    'A',
    'a:',
    '\\"',
  ])('in 64 KiB of %s', (piece) => {
    expect(read(piece.repeat(65_536 / piece.length))).toEqual(NOTHING);
  });
});

test('an unknown encoding is not read', () => {
  expect(read('{}', 'zstd')).toBeUndefined();
});

test.each(['{"id":1}', '\ufeff{"id":1}', '注文'])('UTF-32 is not read: %j', (text) => {
  const little = Buffer.from(Uint32Array.from(Array.from(text), (one) => one.codePointAt(0) ?? 0).buffer);
  for (const body of [little, Buffer.from(little).swap32()]) expect(readWebhook({ body })).toBeUndefined();
});
