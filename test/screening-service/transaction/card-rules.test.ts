import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEST_CARDS } from '../../../src/card-data/test-cards.ts';
import { isExpired, parseCard } from '../../../src/screening-service/index.ts';
import { withCheckDigit } from '../../attacks/lookalikes.ts';
import { TEST_CARD } from '../../fixtures/transactions.ts';
import { property } from '../../support/property.ts';

const RULES = { workflow: 'pre-gateway', mode: 'test', now: new Date('2026-06-15T12:00:00Z') } as const;

const TEST_NUMBERS = ['4111111111111111', '5424000000000015', '370000000000002', '6011000000000012'];
const numbers = fc.stringMatching(/^\d{11,18}$/).map(withCheckDigit);

describe('the expiry', () => {
  property([fc.integer({ min: 2027, max: 2099 }), fc.integer({ min: 1, max: 12 })])(
    'is the last moment of its month anywhere, in all five formats',
    (year, month) => {
      const [mm, yy] = [String(month).padStart(2, '0'), String(year % 100)];
      const end = Date.UTC(year, month, 1, 12);
      for (const expirationDate of [
        `${mm}${yy}`,
        ...['-', '/'].flatMap((sign) => [mm + sign + yy, mm + sign + year]),
      ]) {
        expect(isExpired(expirationDate, new Date(end - 1))).toBe(false);
        expect(isExpired(expirationDate, new Date(end))).toBe(true);
        expect(parseCard({ ...TEST_CARD, expirationDate }, RULES).ok).toBe(true);
      }
    },
  );

  it.each(['1326', '0026', '6/26', '06 26', '2026-06', '06/026', '', '06//26', '06/0030'])(
    'is refused as "%s"',
    (expirationDate) => {
      const refused = { ok: false, fieldErrors: [{ path: 'expirationDate' }] };
      expect(parseCard({ ...TEST_CARD, expirationDate }, RULES)).toMatchObject(refused);
    },
  );
});

describe('parseCard', () => {
  it.each<[card: unknown, paths: string[]]>([
    [
      { cardNumber: '4111111111111112', expirationDate: '0120', cardCode: '1', pin: '9876' },
      ['cardCode', 'cardNumber', 'expirationDate', 'pin'],
    ],
    [{}, ['cardCode', 'cardNumber', 'expirationDate']],
    [null, ['']],
    [TEST_CARD, []],
  ])('lists every fault of %j at once and shows nothing of the card', (card, paths) => {
    const parsed = parseCard(card, RULES);
    const fieldErrors = parsed.ok ? [] : parsed.fieldErrors;
    expect(fieldErrors.map(({ path }) => path).sort()).toEqual(paths);
    expect(JSON.stringify(fieldErrors)).not.toMatch(/4111|0120|9876/);
    if (paths.length === 0) expect(parsed).toEqual({ ok: true, data: card });
  });

  property([fc.oneof(numbers, fc.constantFrom(...TEST_NUMBERS))])(
    'takes any number in test mode, which is the service’s to judge, and no test number in live mode',
    (cardNumber) => {
      const cardCode = /^3[47]/.test(cardNumber) ? '1234' : '123';
      const card = { ...TEST_CARD, cardNumber, cardCode };
      const taken = (mode: 'test' | 'live') => parseCard(card, { ...RULES, mode }).ok;
      expect(taken('test')).toBe(true);
      expect(taken('live')).toBe(!TEST_CARDS.has(cardNumber) && !TEST_NUMBERS.includes(cardNumber));
      const others = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((more) => (Number(cardNumber.at(-1)) + more) % 10);
      const wrong = others.map((digit) => ({ ...card, cardNumber: `${cardNumber.slice(0, -1)}${digit}` }));
      expect(wrong.filter((one) => parseCard(one, RULES).ok)).toEqual([]);
    },
  );
});
