import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passesLuhn } from '../../src/card-data/card-numbers.ts';
import { isExpired, isTestCardNumber, parseCard } from '../../src/screening/index.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';
import { property } from '../support/property.ts';

const RULES = { workflow: 'pre-gateway', mode: 'test', now: new Date('2026-06-15T12:00:00Z') } as const;

const digits = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 11, maxLength: 18 })
  .map((all) => all.join(''));

function withCheckDigit(number: string): string {
  const check = [...'0123456789'].find((digit) => passesLuhn(number + digit));
  return `${number}${check}`;
}

describe('the check digit', () => {
  property([digits])('is one of ten: exactly one completes a number', (number) => {
    expect([...'0123456789'].filter((digit) => passesLuhn(number + digit))).toHaveLength(1);
  });

  property([digits, fc.nat(), fc.integer({ min: 1, max: 9 })])(
    'finds any single wrong digit',
    (number, at, by) => {
      const valid = withCheckDigit(number);
      const index = at % valid.length;
      const wrong = (Number(valid[index]) + by) % 10;
      expect(passesLuhn(`${valid.slice(0, index)}${wrong}${valid.slice(index + 1)}`)).toBe(false);
    },
  );

  it('is known of published numbers', () => {
    expect(['4111111111111111', '79927398713', '6011000000000012'].map(passesLuhn)).toEqual([
      true,
      true,
      true,
    ]);
    expect(passesLuhn('79927398710')).toBe(false);
  });
});

describe('the expiry', () => {
  const two = (number: number) => String(number).padStart(2, '0');
  const formats = (year: number, month: number) => [
    `${two(month)}${two(year % 100)}`,
    `${two(month)}-${two(year % 100)}`,
    `${two(month)}-${year}`,
    `${two(month)}/${year}`,
    `${two(month)}/${two(year % 100)}`,
  ];

  property([fc.integer({ min: 2020, max: 2099 }), fc.integer({ min: 1, max: 12 })])(
    'is the last moment of its month anywhere, in all five formats',
    (year, month) => {
      const end = Date.UTC(year, month, 1, 12);
      for (const format of formats(year, month)) {
        expect(isExpired(format, new Date(end - 1))).toBe(false);
        expect(isExpired(format, new Date(end))).toBe(true);
      }
    },
  );

  property([fc.integer({ min: 2027, max: 2099 }), fc.integer({ min: 1, max: 12 })])(
    'is read in all five formats',
    (year, month) => {
      for (const expirationDate of formats(year, month)) {
        expect(parseCard({ ...TEST_CARD, expirationDate }, RULES)).toMatchObject({ ok: true });
      }
    },
  );

  it.each(['1326', '0026', '6/26', '06 26', '2026-06', '06/026', '', '06//26'])(
    'is refused as "%s"',
    (expirationDate) => {
      expect(parseCard({ ...TEST_CARD, expirationDate }, RULES)).toMatchObject({
        ok: false,
        fieldErrors: [{ path: 'expirationDate' }],
      });
    },
  );
});

describe('parseCard', () => {
  it('gives back a card that is good', () => {
    expect(parseCard({ ...TEST_CARD }, RULES)).toEqual({ ok: true, card: TEST_CARD });
  });

  it('lists every fault at once and shows nothing of the card', () => {
    const parsed = parseCard(
      { cardNumber: '4111111111111112', expirationDate: '0120', cardCode: '1', pin: '9876' },
      RULES,
    );
    expect(parsed).toMatchObject({ ok: false });
    const fieldErrors = parsed.ok ? [] : parsed.fieldErrors;
    expect(fieldErrors.map(({ path }) => path).sort()).toEqual([
      'cardCode',
      'cardNumber',
      'expirationDate',
      'pin',
    ]);
    expect(JSON.stringify(fieldErrors)).not.toMatch(/4111|0120|9876/);
  });

  it('says which fields are missing', () => {
    expect(parseCard({}, RULES)).toMatchObject({
      fieldErrors: [{ path: 'cardNumber' }, { path: 'expirationDate' }, { path: 'cardCode' }],
    });
    expect(parseCard(null, RULES)).toMatchObject({ ok: false, fieldErrors: [{ path: '' }] });
  });

  property([digits.map(withCheckDigit)])(
    'takes any number in test mode, which is the service’s to judge, and no test number in live mode',
    (cardNumber) => {
      const taken = (mode: 'test' | 'live') => parseCard({ ...TEST_CARD, cardNumber }, { ...RULES, mode }).ok;
      expect(taken('test')).toBe(true);
      expect(taken('live')).toBe(!isTestCardNumber(cardNumber));
    },
  );
});

it.each(['4111111111111111', '5424000000000015', '370000000000002', '6011000000000012'])(
  'the list of test numbers has %s',
  (number) => {
    expect(isTestCardNumber(number)).toBe(true);
  },
);
