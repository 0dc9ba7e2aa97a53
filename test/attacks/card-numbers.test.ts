/** What is a card number, whatever it is dressed in, and what only looks like one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardDataIn, isIdPath, shownName, vouchedFor } from '../../src/card-data/card-data.ts';
import { holdsCardNumber, withoutCardNumbers } from '../../src/card-data/card-numbers.ts';
import { anyCardNumber, cardNumber, disguisedOf, inAnAddress } from './card-disguises.ts';
import { KINDS, mistakenShare } from './lookalikes.ts';

/** As many as each rate is measured with. */
const SAMPLES = 20_000;

const inSigns = (signs: string) => (number: string) =>
  fc.constant([...number].map((digit) => signs[Number(digit)]).join(''));
const DISGUISES: Record<string, (number: string) => fc.Arbitrary<string>> = {
  'as people write it': disguisedOf,
  'with an expiry glued on': (number) =>
    fc.constantFrom('1228', '122028', '2812', '202812').map((expiry) => `${number}${expiry}`),
  'in an address': inAnAddress,
  'with 0. in front': (number) => fc.constant(`0.${number}`),
  'in circles': inSigns('⓪①②③④⑤⑥⑦⑧⑨'),
  'in black circles': inSigns('⓿❶❷❸❹❺❻❼❽❾'),
  'in Chinese digits': inSigns('〇一二三四五六七八九'),
  'in Chinese digits of cheques': inSigns('零壹贰叁肆伍陆柒捌玖'),
};

const beside = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 1_000, max: 9_999 }).map(String),
  fc.constant('2028'),
);
const join = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));
const PLACES: Record<string, (text: fc.Arbitrary<string>) => fc.Arbitrary<string>> = {
  alone: (text) => text,
  'in a sentence': (text) => join(fc.constant('he paid with '), text, fc.constant(' at the counter')),
  'next to other numbers': (text) =>
    join(beside, fc.constantFrom(' ', ', ', ': ', ' no. '), text, fc.constantFrom(' ', ', '), beside),
  'two in a text': (text) => join(text, fc.constantFrom(' ', ', ', ' and '), text),
};

const MOST_MISSED_IDS = 2;
/** Places that are looked at in id fields, too. */
const IN_IDS = ['alone', 'next to other numbers'];

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
    'caller of order 1001 4111 1111 1111 1111 confirmed',
    '4222222222222',
    'RuPay 6521 1111 1111 1110',
    'RuPay 8172 1111 1111 1118',
    'Troy 9792 0303 9444 0796',
    '5018 0000 0009',
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

  it.each([
    ['order:eu:4111-1111 1111.1111', 'order:eu:****-**** ****.****'],
    ['order:eu:1001', 'order:eu:1001'],
    ['cc=4111%201111%201111%201111', 'cc=****%******%******%******'],
    ['read 4111 1111 1111 1111 exp 12/27 cvc 123', 'read **** **** **** **** exp **/** cvc ***'],
    ['四一一一一一一一一一一一一一一一 cvc 一二三', '**************** cvc ***'],
  ])('masks every digit of a logged text that contains one: %s', (text, logged) => {
    expect(withoutCardNumbers(text)).toBe(logged);
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

describe('no card number is missed', () => {
  const cases = Object.entries(DISGUISES).flatMap(([disguise, of]) =>
    Object.entries(PLACES).flatMap(([place, within]) => [
      [disguise, place, 'text', within(anyCardNumber.chain(of))] as const,
      ...(IN_IDS.includes(place) ? [[disguise, place, 'id', within(cardNumber.chain(of))] as const] : []),
    ]),
  );
  it.each(cases)('%s, %s, as %s', (disguise, place, content, texts) => {
    const missed = fc.sample(texts, SAMPLES).filter((text) => cardDataIn({ [content]: text }).length === 0);
    console.log(`${disguise}, ${place}, as ${content}: ${missed.length} of ${SAMPLES} missed`);
    // In an id field one in a hundred thousand looks like a time, an IBAN or a tracking number as well.
    expect(missed.slice(content === 'id' ? MOST_MISSED_IDS : 0)).toEqual([]);
  });

  it('of at least 15 digits in the field of a phone number', () => {
    const long = fc
      .tuple(cardNumber, fc.constantFrom('', ' 12/28', ' x99'))
      .filter(([digits]) => digits.length > 14);
    fc.assert(
      fc.property(long, (text) => cardDataIn({ phoneNumber: text.join('') }).length === 1),
      { numRuns: 2_000 },
    );
  });

  it('in a list of its groups, and in fields of card codes', () => {
    expect(cardDataIn({ a: ['4111', '1111', '1111', '1111'], b: [3782, 822463, 10005] })).toEqual(['a', 'b']);
    const codes = ['cvc2', 'cvn', 'card_cvc', 'card-cvv2', 'cid', 'CSC', 'cardVerificationValue'];
    const ofShops = [
      'cc_cid',
      'cc_cvv2',
      'cvvCode',
      'cvc_number',
      'credit_card_cvv',
      'creditCardSecurityCode',
      'cvd',
    ];
    const ofRegions = ['ccv', 'CCV2', 'card_ccv', 'ccvNumber', 'cvv_no', 'cvcNr', 'cvv-num', 'cav2'];
    for (const name of [...codes, ...ofShops, ...ofRegions, 'cardVerificationNumber'])
      expect(cardDataIn({ [name]: '123' })).toEqual([name]);
    const others = {
      ccvResult: '123',
      cvvNote: '123',
      cavv: '123',
      cav: '123',
      no: '123',
      ccNo: '123',
      ccv: 'M',
    };
    expect(cardDataIn(others)).toEqual([]);
  });
});

describe('the scan of a request', () => {
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
