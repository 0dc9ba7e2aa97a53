import { describe, expect, it } from 'vitest';
import type { OverrideAction } from '../../../src/contract/words.ts';
import { DAY, HOUR, MINUTE, NO_RESCREENS, NOT_SENT, sinceStart, unanswered } from '../../fixtures/orders.ts';
import { type Life, RECHECK, screened } from '../life.ts';

const REASON = 'the customer showed the card';
const PRE = { workflow: 'pre-gateway' } as const;
const REFUSED = { kind: 'refused', reason: 'refused' } as const;

/** A person decides. @returns the answer, or the code of the refusal */
function decides(life: Life, action: OverrideAction, at = HOUR) {
  const reply = life.override(action, at, REASON).replies.at(-1);
  if (reply !== undefined && 'refusal' in reply) return reply.refusal.code;
  return reply !== undefined && 'override' in reply ? reply.override : reply;
}

describe('a person decides', () => {
  it('the action; the decision stays the service’s word, and who, when and why stand on the record', () => {
    const life = screened('review', { events: 'all' });
    const answer = { attempt: 1, decision: 'review', action: 'proceed', phase: 'review' };
    expect(decides(life, 'proceed')).toMatchObject({ ...answer, cancelBy: sinceStart(5 * DAY) });
    expect(life).toMatchObject({ decision: 'review', action: 'proceed' });
    const override = { action: 'proceed', reason: REASON, by: 'person', at: sinceStart(HOUR) };
    expect(life.state.attempts[0]?.override).toEqual(override);
    const [first, second] = life.order.outbox;
    const data = { by: 'person', decision: 'review', action: 'proceed' };
    expect(second).toMatchObject({ type: 'order.decision_changed', data });
    expect(first?.data).not.toHaveProperty('by');
  });

  it('and attention about the decision is cleared, other attention not', () => {
    const life = screened('review')
      .portal('report-fraud')
      .portalEnds('refused')
      .until(4.9 * DAY);
    expect(life.attention).toEqual(['portal-refused', 'review-unresolved']);
    expect(life.override('proceed', 4.9 * DAY).attention).toEqual(['portal-refused']);
  });

  it('and what the service says later is recorded, announced as attention, and changes the action no more', () => {
    const life = screened('review', { events: 'all' })
      .override('proceed')
      .polled('fail', 2 * HOUR);
    expect(life).toMatchObject({ decision: 'fail', action: 'proceed', phase: 'decided' });
    expect(life.outbox.slice(2)).toEqual(['order.review_resolved', 'order.attention']);
    expect(life.state.attention[0]?.words).toContain('«fail»');
    life.take(RECHECK).read('pass', 3 * HOUR);
    expect(life).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(life.state.attention.map(({ words }) => words)).toEqual([expect.stringContaining('«pass»')]);
  });

  it('and what the screening says later changes the action no more', () => {
    const life = screened(NOT_SENT)
      .override('proceed')
      .caughtUp('fail', 2 * HOUR);
    expect(life).toMatchObject({ decision: 'fail', action: 'proceed', phase: 'decided', actions: [] });
    expect(life.attention).toEqual(['decision-after-override']);
  });

  it('but not while an attempt is being screened, which would undo it', () => {
    const life = screened('fail').retry(2, MINUTE);
    expect(decides(life, 'proceed')).toBe('busy');
    expect(life.order.state.attempts.at(-1)).not.toHaveProperty('override');
  });

  it('until a new attempt comes', () => {
    const life = screened(REFUSED)
      .override('proceed')
      .retry(2, 2 * HOUR);
    expect(life.action).toBe('hold');
    life.retried('fail', 2 * HOUR);
    expect(life).toMatchObject({ decision: 'fail', action: 'decline', phase: 'declined' });
  });
});

describe('a person who says proceed', () => {
  it('ends the automatic cancels of the attempt, also where a caller’s cancel was refused since', () => {
    const life = screened('error', NO_RESCREENS).override('proceed');
    expect(life.portal('cancel').portalEnds('refused').action).toBe('cancel');
    life.take(RECHECK).read('fail', 2 * HOUR);
    expect(life).toMatchObject({ decision: 'fail', actions: ['refused'] });
  });

  it('ends the cancel of an unresolved review, and its attention; the limit only closes it', () => {
    const life = screened('review', { onUnresolvedReview: 'cancel' })
      .override('proceed')
      .until(29 * DAY);
    const left = { action: 'proceed', attention: [], actions: [] };
    expect(life).toMatchObject({ phase: 'review', ...left });
    expect(life.until(31 * DAY)).toMatchObject({ phase: 'closed', ...left });
  });

  it('withdraws a queued cancel, and whoever waits for it is told', () => {
    const life = screened(unanswered()).portal('cancel');
    expect(life.actions).toEqual(['queued']);
    life.override('proceed');
    expect(life).toMatchObject({ actions: ['withdrawn'], told: ['action-withdrawn', 'answered'] });
    expect(life.break('catch-up', 'canceled').underWay).toContain('catch-up:1:0');
  });

  it('is refused once a cancel was sent, until the service refused it', () => {
    const life = screened('review').portal('cancel').override('proceed').withdraw(1);
    expect(life.break('portal', 'canceled').override('proceed').actions).toEqual(['unconfirmed']);
    life.portal('cancel').portalEnds('refused').override('proceed');
    expect([1, 3, 5].map((index) => life.told[index])).toEqual([
      'cancel-under-way',
      'cancel-under-way',
      'answered',
    ]);
  });

  it('does not keep the gateway’s fail from declining, and is held by its error', () => {
    const life = screened('review', { ...PRE, reviewBeforeGateway: 'hold' }).override('proceed');
    expect(life.phase).toBe('awaiting-gateway');
    expect(life.gateway('error')).toMatchObject({ action: 'hold', phase: 'awaiting-gateway' });
    expect(life.gateway('pass')).toMatchObject({ action: 'proceed', phase: 'review' });
    const declined = screened('review', PRE).override('proceed').gateway('fail');
    expect(declined).toMatchObject({ action: 'decline', phase: 'declined' });
  });
});

describe('a person who says cancel', () => {
  it('cancels with the service by the rules of any cancel', () => {
    const life = screened('pass', { events: 'all' });
    expect(decides(life, 'cancel')).toMatchObject({ action: 'cancel', phase: 'decided', number: 1 });
    const request = { fields: { kind: 'cancel', reason: REASON }, notAfter: expect.any(String) };
    expect(life.calls('portal')).toMatchObject([{ request }]);
    expect(life.portalEnds('done')).toMatchObject({ decision: 'pass', action: 'cancel', phase: 'canceled' });
    const events = ['order.decided', 'order.decision_changed', 'order.canceled', 'order.closed'];
    expect(life.outbox).toEqual(events);
  });

  it('is told that the window is over; the action stands', () => {
    const life = screened('review').until(6 * DAY);
    const answer = { notCanceled: 'cancel-window-closed', cancelBy: sinceStart(5 * DAY) };
    expect(decides(life, 'cancel', 6 * DAY)).toMatchObject({
      decision: 'review',
      action: 'cancel',
      ...answer,
    });
    expect(life).toMatchObject({ action: 'cancel', actions: [] });
  });
});

describe('nobody decides', () => {
  it('about an order that is declined, canceled or closed, or whose policy only watches', () => {
    const canceled = screened('pass').override('cancel').portalEnds('done');
    for (const action of ['proceed', 'cancel'] as const) {
      expect(decides(screened('fail'), action, MINUTE)).toBe('order-declined');
      expect(decides(canceled, action)).toBe('order-closed');
    }
    expect(decides(screened('pass').until(6 * DAY), 'proceed', 6 * DAY)).toBe('order-closed');
    expect(decides(screened('review', { passive: true }), 'proceed')).toBe('passive');
  });
});
