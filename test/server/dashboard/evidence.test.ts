import { expect, it } from 'vitest';
import type { Attempt, OrderState } from '../../../src/contract/order/state.ts';
import { evidenceOf } from '../../../src/server/dashboard/evidence.ts';
import { aClosedOrder } from '../../fixtures/orders.ts';

const AT = '2026-03-02T11:00:00.000Z';
const later = { decision: 'pass', at: AT, source: 'webhook' } as const;
const override = { action: 'proceed', reason: 'x', by: 'person', at: AT } as const;

/** An order with a recommendation at checkout, and these differences of its attempt. */
function advised(more: Partial<Attempt> = {}): OrderState {
  const insights = {
    risk: { '1': { description: 'A new address' } },
    recommendation: { '1': { description: 'Hold the order' } },
  };
  const first = { decision: 'review', at: AT, source: 'checkout', insights } as const;
  const { readings = [], ...rest } = more;
  return aClosedOrder({ ...rest, readings: [first, ...readings] });
}

const groupsOf = (state: OrderState) => evidenceOf(state).map(({ group }) => group);

it('a recommendation is shown until a later reading, or until a person decides; the rest stays', () => {
  expect(groupsOf(advised())).toEqual(['risk', 'recommendation']);
  expect(groupsOf(advised({ readings: [later] }))).toEqual(['risk']);
  expect(groupsOf(advised({ override }))).toEqual(['risk']);
});
