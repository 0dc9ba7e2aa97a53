/** What is a card number, whatever it is dressed in, and what only looks like one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardDataIn, isIdPath, shownName, vouchedFor } from '../../src/card-data/card-data.ts';
import { holdsCardNumber, withoutCardNumbers } from '../../src/card-data/card-numbers.ts';
import { planted } from './card-disguises.ts';
import { KINDS, mistakenShare } from './lookalikes.ts';

describe('a card number', () => {
  it.each([
    '4️⃣1111 1111 1111 111',
    '①④ 4111111111111111',
    'am 3.5. 4111 1111 1111 1111',
    '4111111111111111|12|2028|123',
    '%B4111111111111111^EXAMPLE/ADA^28121010000000?',
    'https://shop.example/s?cc=4111%201111%201111%201111',
    '/s?q=card%204111111111111111',
    '/s?d=%7B%22cardNumber%22%3A%224111111111111111%22%7D',
    '/s?to=%2Fs%3Fcc%3D4111%252D1111%252D1111%252D1111',
    '/s?cc=%34%31%31%31111111111111&100%',
    '/s?name=%FCber&cc=4111%201111%201111%201111',
  ])('is found: %s', (text) => {
    expect(holdsCardNumber(text)).toBe(true);
  });

  it.each([
    ['a wrong check digit', '4111111111111112'],
    ['a UUID, with few letters', '29b3a383-6367-4239-8012-574a18f633e1'],
    ['no brand', '1111111111111117'],
    ['another length than the brand’s', '411111111111111'],
    ['digits of two numbers, a letter between them', '41111111x11111111'],
    ['part of a longer number', '14111111111111111'],
    ['coordinates', '41.111111, 11.111111'],
    ['signs in hexadecimal', '%41%11%11%11%11%11%11%11'],
  ])('is not: %s', (_why, text) => {
    expect(holdsCardNumber(text)).toBe(false);
  });

  it('shows its last four digits in a log, and nothing else changes', () => {
    expect(withoutCardNumbers('order:eu:4111-1111 1111.1111')).toBe('order:eu:****-**** ****.1111');
    expect(withoutCardNumbers('order:eu:1001')).toBe('order:eu:1001');
    expect(withoutCardNumbers('cc=4111%201111%201111%201111')).toBe('cc=****%******%******%******');
  });

  it('has the digits of every script that Unicode knows', () => {
    const digits = Array.from({ length: 0x1ffff }, (_, point) => String.fromCodePoint(point)).filter((sign) =>
      /\p{Nd}/u.test(sign),
    );
    const zeros = digits.filter((_, index) => index % 10 === 0).map((zero) => zero.codePointAt(0) ?? 0);
    expect(zeros.length).toBeGreaterThan(60);
    const missed = zeros.filter((zero) => {
      const text = [...'4242424242424242'].map((digit) => String.fromCodePoint(zero + Number(digit)));
      return !holdsCardNumber(text.join(''));
    });
    expect(missed).toEqual([]);
  });

  // The fourth are marks out of order, the fifth words in one sign, the sixth digits of two scripts.
  it.each([...['1', '1 ', '4111 ', '\u0301\u0323', '\ufdfa ', '\u0661\u0967', '1,', 'a1b2', 'DE89 3704 ']])(
    'is looked for in linear time: in many of "%s"',
    (part) => {
      const secondsFor = (length: number) => {
        const text = part.repeat(length / part.length);
        const start = performance.now();
        holdsCardNumber(text);
        return (performance.now() - start) / 1_000;
      };
      secondsFor(100_000);
      // Quadratic time would take many minutes; beside other programs linear time takes a few seconds.
      expect(secondsFor(2_000_000)).toBeLessThan(20);
    },
  );
});

describe('the scan of a request', () => {
  it('finds what is planted anywhere, and shows nothing of it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'notes', 'b-c'), { maxLength: 4 }),
        planted,
        (names, value) => {
          const request = names.reduce<unknown>((inner, name) => ({ [name]: inner, other: 1 }), { value });
          const found = cardDataIn(request);
          expect(found).toHaveLength(1);
          expect(found.join()).not.toMatch(/\p{N}{4}/u);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('finds fields by their names, in every spelling, however deep', () => {
    const found = cardDataIn({
      nfToken: 'k',
      'nf-token': 'k',
      nf_token: 'k',
      ｃａｒｄＮｕｍｂｅｒ: 'x',
      a: [{ CARD_NUMBER: '4' }],
      payment: { creditCard: { expirationDate: '12/30', last4: '1111', bin: '411111' } },
      userFields: { expirationDate: '12/30', cvv: '123', CVV2: 1234, cvc: '1 2 3', security_code: '１２３' },
      cardCode: null,
      b: { cvv: 'M', cvvResultCode: '123', pan: 'Peter', track: 'B', trackingNumber: '1Z999AA10123456784' },
      c: { pan: '123456789012', 'track-2': ';123456789012=28121', track1: '%B123456789012^DOE/J^2812?' },
    });
    expect(found).toEqual([
      ...['nfToken', 'nf-token', 'nf_token', '??????????', 'a[0].CARD_NUMBER'],
      ...['userFields.cvv', 'userFields.CVV2', 'userFields.cvc', 'userFields.security_code'],
      ...['c.pan', 'c.track-2', 'c.track1'],
    ]);
  });

  const LARGE: unknown = JSON.parse('{"a": 4111111111111110999, "b": 1111111111111110999, "d": 1e300}');
  it.each<[what: string, sent: unknown, found: string[]]>([
    ['takes a number that JSON can’t hold exactly by its begin', LARGE, ['a']],
    ['masks a key that is card data', { '4111 1111 1111 1111': 1 }, ['…']],
    ['never puts fields together', { a: ['41111111', '11111111'], b: '4111', c: '111111111111' }, []],
  ])('%s', (_what, sent, found) => {
    expect(cardDataIn(sent)).toEqual(found);
  });

  it('ends after a hundred finds, and with any depth', () => {
    expect(cardDataIn(Array(5_000).fill('4111111111111111'))).toHaveLength(100);
    let deep: unknown = '4111111111111111';
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    expect(cardDataIn(deep).join().length).toBeLessThan(1_000);
  });

  it('shows names without long numbers, and cut', () => {
    const names = ['4111-1111-1111-1111', '123456789', 'naïve', 'a'.repeat(100)];
    expect(names.map(shownName)).toEqual(['…', '…', 'na?ve', 'a'.repeat(64)]);
  });
});

describe('an id that the merchant vouches for', () => {
  const id = '4111111111111111';
  const request = {
    orderId: id,
    transaction: { order: { invoiceNumber: id }, lineItems: [{ sku: id, notes: id }], 'transaction-id': id },
    reason: id,
  };
  const notCards = ['orderId', 'order.invoiceNumber', 'transaction.lineItems[].sku', 'transactionId'];

  it('is taken, in either spelling, and no other field is', () => {
    expect(cardDataIn(request, { notCards })).toEqual(['transaction.lineItems[0].notes', 'reason']);
    expect(vouchedFor({ orderId: id }, { notCards })).toEqual({ orderId: id, notCards });
    // An adoption has the invoice number without its transaction.
    expect(cardDataIn({ invoiceNumber: id }, { notCards })).toEqual([]);
    expect(
      cardDataIn({ transaction: { order: { invoiceNumber: id } } }, { notCards: ['invoiceNumber'] }),
    ).toEqual([]);
    expect(vouchedFor({ orderId: '1' }, { notCards })).toEqual({ orderId: '1' });
  });

  it('is no card field, no key, and no field of words', () => {
    const given = {
      cardNumber: id,
      userFields: { [id]: 'x' },
      reason: id,
      idempotencyKey: id,
      b: { notes: id },
    };
    const all = ['cardNumber', 'reason', 'idempotencyKey', 'b.notes', `userFields.${id}`];
    expect(cardDataIn(given, { notCards: all })).toHaveLength(5);
    expect(['orderId', 'a.b-c[].d', 'userFields.1'].filter(isIdPath)).toHaveLength(3);
    expect(
      ['', 'a..b', 'a b', 'reason', 'x.notes', 'Idempotency-Key', 7, 'a'.repeat(300)].filter(isIdPath),
    ).toEqual([]);
  });
});

describe('of values that merchants send', () => {
  const SAMPLES = 20_000;
  const share = (measured: number) => `${(100 * measured).toFixed(2)}%`;

  it.each(KINDS)('few are refused: %s', (kind, field, inField, inText, make) => {
    const measured = mistakenShare(field, make, SAMPLES);
    const asText = mistakenShare('notes', make, SAMPLES);
    console.log(`${kind}: ${share(measured)} in ${field}, ${share(asText)} in free text`);
    if (inField === 0) expect(measured).toBe(0);
    else expect(measured).toBeLessThan(inField);
    expect(asText).toBeLessThanOrEqual(inText);
  });
});
