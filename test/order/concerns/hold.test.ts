import { describe, expect, it } from 'vitest';
import { cancelOf, DAY, HOUR, MINUTE, TRANSACTION_ID } from '../../fixtures/orders.ts';
import { besideLost } from '../beside-lost.ts';
import type { Life } from '../life.ts';

/** A cancel that names the transaction that passed runs when the lookup finds a further one without a decision. */
function held(): Life {
  const life = besideLost('pass', { events: 'all' }).portal(cancelOf(TRANSACTION_ID), HOUR + 5 * MINUTE);
  life.lookedUp('error', HOUR + 6 * MINUTE, 'another');
  expect(life).toMatchObject({ decision: 'pass', action: 'hold', attention: ['cancel-due'] });
  return life;
}

const withdrawn = (life: Life) => life.withdraw(1).portalEnds('not-sent', 2 * HOUR, { key: 'portal:1' });
const canceled = (life: Life) =>
  life.portal(cancelOf('another')).portalEnds('done', 2 * HOUR, { key: 'portal:2' });
const lastEvent = ({ state: { events } }: Life) => events.last?.at(-1);

describe('the hold of an order because of a further transaction', () => {
  it.each<[string, (life: Life) => Life]>([
    ['canceled', (life) => canceled(withdrawn(life))],
    ['acknowledged', (life) => withdrawn(life).acknowledge(5 * DAY - 10_000)],
    ['canceled, once no cancel of the other one runs', (life) => withdrawn(canceled(life))],
  ])('ends when that is %s, and an event says so', (_how, ends) => {
    const life = ends(held());
    const { phase, action, attention } = life;
    expect([phase, action, attention]).toEqual(['decided', 'proceed', []]);
    expect(lastEvent(life)).toMatchObject({ type: 'order.decision_changed', data: { action: 'proceed' } });
  });

  it('stays while a cancel of the other one runs, which cancels the order', () => {
    const life = canceled(held());
    expect([life.action, life.attention, life.actions]).toEqual(['hold', [], ['running', 'done']]);
    expect(lastEvent(life)?.data.action).toBe('hold');
    expect(life.portalEnds('done', 2 * HOUR).phase).toBe('canceled');
  });
});
