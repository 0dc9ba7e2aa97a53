import { expect, test } from 'vitest';
import { orderFactsOf, ruleMatches, unavailableAction } from '../../src/orders/decide.ts';

const bought = (...categories: (string | undefined)[]) =>
  orderFactsOf({ amount: '2000', lineItems: categories.map((category) => ({ category })) });

test.each([
  [['donation'], true, true],
  [['Donation', 'donation'], true, true],
  [['donation', 'jewelry'], false, true],
  [['donation', undefined], false, true],
  [['jewelry'], false, false],
  [[], false, false],
])('of the items %j: `itemCategory` holds for all %s, `anyItemCategory` for one %s', (items, all, any) => {
  expect(ruleMatches({ itemCategory: ['donation'] }, bought(...items))).toBe(all);
  expect(ruleMatches({ anyItemCategory: ['donation'] }, bought(...items))).toBe(any);
});

test('a rule with an amount can name its currency', () => {
  const rules = [{ amountBelow: 100, currency: ['USD', 'EUR'], action: 'proceed' as const }];
  expect(unavailableAction(rules, orderFactsOf({ amount: '50', currency_code: 'EUR' }))).toBe('proceed');
  expect(unavailableAction(rules, orderFactsOf({ amount: '50', currency_code: 'KWD' }))).toBe('hold');
});
