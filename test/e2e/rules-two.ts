/** The workflows of a release that knows rules 2 beside rules 1: an order of rules 2 doesn't poll its review. Made for the test. */
import { keep, step } from '../../src/orders/step.ts';
import { wanted } from '../../src/orders/wanted.ts';
import { screenOrderBy } from '../../src/workflows/screen-order.ts';

export const screenOrder = screenOrderBy({
  numbers: [1, 2],
  step,
  keep: (order) =>
    keep(
      order,
      wanted(order).filter(({ kind }) => order.rules < 2 || kind !== 'poll'),
    ),
});
