import { expect, it } from 'vitest';
import type { Reading } from '../../../src/contract/order/state.ts';
import type { OverrideAction } from '../../../src/contract/words.ts';
import { outcomesOf, reviewHours } from '../../../src/order/view/outcomes.ts';
import { searchAttributesOf } from '../../../src/order/view/search-attributes.ts';
import { HOUR, sinceStart } from '../../fixtures/orders.ts';
import { HINT, screened } from '../life.ts';

it.each([
  ['proceed', 'pass', 'override-confirmed'],
  ['proceed', 'fraudulent', 'override-contradicted'],
  ['cancel', 'fail', 'override-confirmed'],
  ['cancel', 'pass', 'override-contradicted'],
] as const)('an override to %s with a later %s is %s', (action: OverrideAction, decision, outcome) => {
  const { state } = screened('review').override(action, HOUR);
  expect(outcomesOf(state)).toEqual(['overridden']);
  const later: Reading = { decision, at: sinceStart(2 * HOUR), source: 'poll' };
  const attempts = state.attempts.map((one) => ({ ...one, readings: [...one.readings, later] }));
  expect(outcomesOf({ ...state, attempts })).toEqual(['overridden', outcome]);
});

it('a decision from before the override says nothing of it', () => {
  expect(outcomesOf(screened('pass').override('cancel', HOUR).state)).toEqual(['overridden']);
});

it('a review takes until the screening service or a person decides', () => {
  const review = () => screened('review');
  expect(reviewHours(review().state)).toBeUndefined();
  expect(reviewHours(screened('pass').state)).toBeUndefined();
  expect(reviewHours(review().polled('pass', 3 * HOUR).state)).toBe(3);
  const byPerson = review()
    .override('proceed', 2 * HOUR)
    .polled('fail', 3 * HOUR);
  expect(reviewHours(byPerson.state)).toBe(2);
  const twice = review()
    .polled('pass', 3 * HOUR)
    .take(HINT)
    .read('review', 10 * HOUR);
  expect(reviewHours(twice.state)).toBe(3);
  expect(reviewHours(twice.polled('pass', 15 * HOUR).state)).toBe(5);
});

it('a chargeback counts when it is done, and an action that is under way is shown as such', () => {
  const chargeback = { kind: 'chargeback', reason_code: '10.4', due_date: '2034-01-31' } as const;
  const shown = ({ state }: ReturnType<typeof screened>) =>
    Object.fromEntries(
      searchAttributesOf({ state, asked: { transaction: {} } }).map(({ key, value }) => [key.name, value]),
    );
  const life = screened('pass').portal(chargeback, HOUR);
  expect(shown(life)).toMatchObject({ ActionUnderWay: true });
  expect(shown(life)).not.toHaveProperty('OrderOutcomes');
  expect(shown(life.portalEnds('done', HOUR))).toMatchObject({
    ActionUnderWay: false,
    OrderOutcomes: ['chargeback'],
  });
});
