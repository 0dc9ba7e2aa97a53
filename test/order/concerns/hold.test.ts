import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, TRANSACTION_ID, unanswered } from '../../fixtures/orders.ts';
import { NO_RESCREENS } from '../beside-lost.ts';
import { HINT, type Life, RECHECK, screened } from '../life.ts';

const cancel = (transactionId: string) => ({ kind: 'cancel', transactionId }) as const;

/** A cancel that names the transaction that passed runs when the lookup finds a further one without a decision. */
function held(): Life {
  const policy = { screeningDeadlineMs: HOUR, rescreenOnError: { tries: 0, pauseMs: MINUTE } };
  const life = screened('error', { ...policy, events: 'all' })
    .take(RECHECK)
    .read('error', 2 * MINUTE)
    .until(HOUR + 3 * MINUTE);
  life.break('catch-up', 'canceled').take(HINT);
  life.read('pass', HOUR + 4 * MINUTE).portal(cancel(TRANSACTION_ID), HOUR + 5 * MINUTE);
  life.lookedUp('error', HOUR + 6 * MINUTE, 'another');
  expect(life).toMatchObject({ decision: 'pass', action: 'hold', attention: ['cancel-due'] });
  return life;
}

const withdrawn = (life: Life) => life.withdraw(1).portalEnds('not-sent', 2 * HOUR, { key: 'portal:1' });
const canceled = (life: Life) =>
  life.portal(cancel('another')).portalEnds('done', 2 * HOUR, { key: 'portal:2' });
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

describe('a pass that is found while a cancel is under way', () => {
  const policy = { events: 'all', whenUnavailable: 'proceed' } as const;
  const preGateway = { ...policy, workflow: 'pre-gateway' } as const;
  const pending = () => screened(unanswered(), preGateway).portal('cancel', MINUTE);

  it.each<[string, () => Life, (life: Life) => Life]>([
    [
      'by a lookup',
      () => screened(unanswered(), { events: 'all' }).portal('cancel', MINUTE).break('catch-up', 'canceled'),
      (life) => life.lookedUp('pass', HOUR),
    ],
    [
      'by a poll',
      () => screened('review', policy).portal('cancel', MINUTE),
      (life) => life.polled('pass', HOUR),
    ],
    [
      'by a gateway’s pass',
      () => screened('pass', preGateway).portal('cancel', MINUTE),
      (life) => life.gateway('pass', HOUR),
    ],
    ['by the gateway alone', pending, (life) => life.gateway('pass', HOUR)],
    [
      'by the gateway alone, after the screening was given up',
      () => screened('error', { ...preGateway, ...NO_RESCREENS }).portal('cancel', MINUTE),
      (life) => life.gateway('pass', HOUR),
    ],
  ])('%s holds the order until the cancel is withdrawn', (_how, canceling, pass) => {
    const life = canceling();
    const before = life.state.events.sequence;
    const events = () =>
      (life.state.events.last ?? [])
        .filter(({ sequence }) => sequence > before)
        .map(({ type, data }) => [type, data.action]);
    pass(life);
    expect(life.action).toBe('hold');
    expect(events().map(([, action]) => action)).not.toContain('proceed');
    for (const reply of life.replies) expect(reply).not.toMatchObject({ gateway: { action: 'proceed' } });
    life.withdraw(1, 2 * HOUR);
    if (life.actions.includes('running')) life.portalEnds('not-sent', 2 * HOUR);
    expect([life.actions, life.action]).toEqual([['withdrawn'], 'proceed']);
    expect(events().at(-1)).toEqual(['order.decision_changed', 'proceed']);
  });

  it('does not free an order that failed after a fraud report', () => {
    const life = screened('pass', policy).portal('report-fraud', MINUTE).portalEnds('done', MINUTE);
    life.take(HINT).read('review', HOUR).portal('cancel', HOUR).take(HINT);
    life.read('pass', HOUR + MINUTE).take(HINT);
    life.read('fraudulent', 2 * HOUR).withdraw(2, 2 * HOUR);
    life.portalEnds('not-sent', 2 * HOUR);
    expect(life).toMatchObject({ action: 'hold', attention: ['fraud-confirmed'] });
  });
});
