import { describe, expect, it } from 'vitest';
import { HOUR, MINUTE, NO_RESCREENS, unanswered } from '../../fixtures/orders.ts';
import { HINT, type Life, screened } from '../life.ts';
import { reported } from '../lives.ts';

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

  it.each<[string, (life: Life) => Life, (life: Life) => Life]>([
    ['a cancel', (life) => life.portal('cancel', MINUTE), (life) => life.withdraw(1, 2 * HOUR)],
    [
      'the gateway’s error',
      (life) => life.gateway('error', MINUTE, 2),
      (life) => life.gateway('pass', 2 * HOUR, 2),
    ],
  ])('%s holds back the answer to a further attempt without a decision until it ends', (_what, hold, end) => {
    const life = hold(screened('fail', preGateway).retry(2, MINUTE)).retried(unanswered(), HOUR);
    expect(life.replies[0]).toMatchObject({ checkout: { attempt: 2, action: 'hold' } });
    expect([life.decision, life.action]).toEqual(['pending', 'hold']);
    expect([end(life).decision, life.action]).toEqual(['pending', 'proceed']);
  });

  it('does not free an order that failed after a fraud report', () => {
    const life = reported(screened('pass', policy), MINUTE);
    life.take(HINT).read('review', HOUR).portal('cancel', HOUR).take(HINT);
    life.read('pass', HOUR + MINUTE).take(HINT);
    life.read('fraudulent', 2 * HOUR).withdraw(2, 2 * HOUR);
    life.portalEnds('not-sent', 2 * HOUR);
    expect(life).toMatchObject({ action: 'hold', attention: ['fraud-confirmed'] });
  });
});
