import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../src/contract/policy.ts';
import { applyLateReading, readAfterEndInput } from '../../../src/order/after-end.ts';
import { DAY, HOUR, MINUTE, sinceStart } from '../../fixtures/orders.ts';
import { HINT, RECHECK, screened } from '../life.ts';
import { besideLost, reported } from '../lives.ts';

const passed = (policy: Partial<Policy> = {}) => reported(screened('pass', policy));

const CONFIRMED = { action: 'proceed', phase: 'decided', attention: ['fraud-confirmed'] };

describe('a fraud report that the screening service confirms', () => {
  it.each(['fraudulent', 'fail'] as const)('%s: the action stays, with attention', (decision) => {
    const life = passed().polled(decision, 2 * HOUR);
    expect(life).toMatchObject({ decision, ...CONFIRMED, actions: ['done'] });
    const { words } = life.state.attention[0] ?? {};
    expect(words).toContain('cancel it, unless it has shipped');
    expect(life.portal('cancel', 3 * HOUR).portalEnds('done', 3 * HOUR)).toMatchObject({
      phase: 'canceled',
      attention: [],
    });
  });

  it('cancels the order with the policy `always`', () => {
    const life = passed({ cancelAfterReport: 'always' }).polled('fraudulent', 2 * HOUR);
    expect(life).toMatchObject({ action: 'cancel', actions: ['done', 'running'], attention: [] });
  });

  it('cancels nothing either where the analysts reviewed the order first', () => {
    const life = passed({ onUnresolvedReview: 'cancel' }).polled('review', 2 * HOUR);
    expect(life).toMatchObject({ action: 'hold', phase: 'review' });
    expect(life.until(4.9 * DAY)).toMatchObject({ action: 'hold', attention: ['review-unresolved'] });
    life.polled('fraudulent', 4.9 * DAY);
    expect(life).toMatchObject({ ...CONFIRMED, action: 'hold', actions: ['done'] });
  });

  it('while the answer to the report is outstanding, too', () => {
    const life = screened('pass').portal('report-fraud', HOUR).take(RECHECK).read('fraudulent', HOUR);
    expect(life).toMatchObject({ ...CONFIRMED, actions: ['running'] });
  });

  it('whose own outcome nobody knows, too: the decision is polled all the same', () => {
    const life = screened('pass')
      .portal('report-fraud', HOUR)
      .until(1.1 * DAY)
      .portalEnds('unconfirmed');
    expect(life.polled('fraudulent', 1.2 * DAY)).toMatchObject({
      action: 'proceed',
      actions: ['unconfirmed'],
    });
    expect(life.attention).toEqual(['portal-unconfirmed', 'fraud-confirmed']);
  });

  it('is withdrawn by a later pass, and stands over a fail', () => {
    const life = passed().polled('fraudulent', 2 * HOUR);
    const readAgain = (decision: 'fail' | 'pass', at: number) => life.take(RECHECK).read(decision, at);
    expect(readAgain('fail', 3 * HOUR)).toMatchObject(CONFIRMED);
    expect(readAgain('pass', 4 * HOUR)).toMatchObject({ ...CONFIRMED, attention: [] });
  });

  it('cancels nothing either where a further transaction of the order fails, found by a lookup', () => {
    const life = besideLost('pass', { autoCancel: true });
    reported(life, 3 * HOUR).lookedUp('fail', 4 * HOUR);
    expect(life).toMatchObject({ decision: 'fail', ...CONFIRMED, actions: ['done'] });
    const ended = readAfterEndInput({ ...life.state, phase: 'closed' });
    const [, newest] = ended.order.transactions;
    for (const decision of ['pass', 'fail'] as const)
      if (newest) applyLateReading(ended, newest, { kind: 'read', decision }, sinceStart(HOUR * 5));
    expect(ended.decisions).toMatchObject([{ action: 'proceed' }, { decision: 'fail', action: 'proceed' }]);
  });

  it.each([
    ['in review', reported(screened('review'))],
    ['before the payment gateway’s result', reported(screened('pass', { workflow: 'pre-gateway' }))],
    ['refused', screened('pass').portal('report-fraud', HOUR).portalEnds({ kind: 'refused' }, HOUR)],
  ])('of an order that was %s cancels as usual', (_when, life) => {
    life.take(RECHECK).read('fraudulent', HOUR + MINUTE);
    expect(life.action).toBe('cancel');
    expect(life.actions).toHaveLength(2);
  });
});

describe('decisions after a fraud report', () => {
  const accepted = () => passed({ workflow: 'post-acceptance', autoCancel: true });

  it('a pass after review and fail releases the order: nothing was canceled, and it was only held for the review', () => {
    const life = accepted()
      .polled('review', 2 * HOUR)
      .polled('fail', 3 * HOUR);
    expect([life.action, life.attention]).toEqual(['hold', ['fraud-confirmed']]);
    life.take(HINT).read('pass', 4 * HOUR);
    expect(life.action).toBe('proceed');
  });

  it('a review after the fail holds the order, as any review does', () => {
    const life = accepted()
      .polled('fail', 2 * HOUR)
      .take(HINT)
      .read('review', 3 * HOUR);
    expect([life.phase, life.action]).toEqual(['review', 'hold']);
  });
});
