import { describe, expect, it } from 'vitest';
import type { OverrideAction } from '../../src/contract/words.ts';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import { DAY, HOUR, MINUTE, sinceStart, unanswered } from '../fixtures/orders.ts';
import { aLife, type Life, RECHECK, screened } from './life.ts';

const REASON = 'the customer showed the card';
const PRE = { workflow: 'pre-gateway' } as const;
const POST = { workflow: 'post-acceptance' } as const;
const REFUSED = { kind: 'refused', reason: 'refused' } as const;

/** A person decides. @returns the answer, or the code of the refusal */
function decides(life: Life, action: OverrideAction, at = HOUR) {
  const ask = { kind: 'override' as const, request: { action, reason: REASON } };
  const refused = refusalOf(life.order, ask, sinceStart(at));
  if (refused !== undefined) return refused.code;
  const reply = life.replies.get(life.ask(ask, at));
  return reply !== undefined && 'override' in reply ? reply.override : reply;
}

/** Has a person decide. @returns the order */
function decided(life: Life, action: OverrideAction): Life {
  expect(decides(life, action)).toMatchObject({ action });
  return life;
}

const cancels = ({ state }: Life) =>
  state.actions.filter(({ kind }) => kind === 'cancel').map(({ by, status }) => `${by} ${status}`);

describe('a person decides', () => {
  it('the action; the decision stays the service’s word, and who, when and why stand on the record', () => {
    const life = screened('review', { events: 'all' });
    expect(decides(life, 'proceed')).toEqual({
      ...{ orderId: 'order-1', integration: 'default', attempt: 1 },
      ...{ decision: 'review', action: 'proceed', phase: 'review' },
      transactionId: expect.any(String),
      cancelBy: sinceStart(5 * DAY),
    });
    expect(life.state).toMatchObject({ decision: 'review', action: 'proceed' });
    const override = { action: 'proceed', reason: REASON, by: 'person', at: sinceStart(HOUR) };
    expect(life.state.attempts[0]?.override).toEqual(override);
    const [first, second] = life.order.outbox;
    const data = { by: 'person', decision: 'review', action: 'proceed' };
    expect(second).toMatchObject({ type: 'order.decision_changed', data });
    expect(first?.data).not.toHaveProperty('by');
  });

  it('and attention about the decision is cleared, other attention not', () => {
    const life = screened('review');
    life.state.attention.push({ code: 'portal-unconfirmed', words: 'x', since: '', cause: {} });
    life.until(5 * DAY - 1);
    expect(life.attention).toEqual(['portal-unconfirmed', 'review-unresolved']);
    decides(life, 'proceed', 5 * DAY - 1);
    expect(life.attention).toEqual(['portal-unconfirmed']);
  });

  it('of an order without a decision, too, which is screened on', () => {
    const life = decided(screened(unanswered()), 'proceed');
    expect(life.state).toMatchObject({ decision: 'pending', action: 'proceed', phase: 'screening' });
    life.caughtUp('fail', HOUR);
    expect(life.state).toMatchObject({ decision: 'fail', action: 'proceed', phase: 'decided' });
    expect(life.attention).toEqual(['decision-after-override']);
    expect(cancels(life)).toEqual([]);
  });

  it('once the checkout is answered', () => {
    const life = aLife();
    const ticket = life.override('cancel', 0);
    expect(life.replies.get(ticket)).toBeUndefined();
    screened('review', {}, life);
    expect(life.replies.get(ticket)).toMatchObject({ override: { action: 'cancel', number: 1 } });
  });

  it('and what the service says later is recorded, announced as attention, and changes the action no more', () => {
    const life = decided(screened('review', { events: 'all' }), 'proceed');
    life.order.outbox.length = 0;
    life.polled('fail', 2 * HOUR);
    expect(life.state).toMatchObject({ decision: 'fail', action: 'proceed', phase: 'decided' });
    expect(life.outbox).toEqual(['order.review_resolved', 'order.attention']);
    expect(life.state.attention[0]?.words).toContain('«fail»');
    life.take(RECHECK).read('pass', 3 * HOUR);
    expect(life.state).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(life.state.attention.map(({ words }) => words)).toEqual([expect.stringContaining('«pass»')]);
  });

  it('as often as they like: the last one counts', () => {
    const life = decided(screened('review', { autoCancel: true }), 'proceed').polled('fail', 2 * HOUR);
    const canceled = { decision: 'fail', action: 'cancel', number: 1 };
    expect(decides(life, 'cancel', 3 * HOUR)).toMatchObject(canceled);
    expect(life.attention).toEqual([]);
    life.portalEnds({ kind: 'refused', message: 'Too old' }, 3 * HOUR);
    expect(decides(life, 'proceed', 4 * HOUR)).toMatchObject({ action: 'proceed', phase: 'decided' });
    expect(life.attention).toEqual([]);
  });

  it('until a new attempt comes', () => {
    const life = decided(screened(REFUSED), 'proceed');
    life.retry(2, 2 * HOUR);
    expect(life.state.action).toBe('hold');
    life.retried('fail', 2 * HOUR);
    expect(life.state).toMatchObject({ decision: 'fail', action: 'decline', phase: 'declined' });
    expect(life.state.attempts.map(({ override }) => override?.action)).toEqual(['proceed', undefined]);
  });
});

describe('a person who says proceed', () => {
  it('ends the automatic cancels of the attempt', () => {
    const life = decided(screened('review', { autoCancel: true }), 'proceed');
    life.polled('fail', 2 * HOUR).until(6 * DAY);
    expect(life.calls('portal')).toEqual([]);
    expect(life.state).toMatchObject({ phase: 'closed', action: 'proceed' });
  });

  it('ends them also where a caller’s cancel was refused since', () => {
    const policy = { autoCancel: true, rescreenOnError: { tries: 0, pauseMs: MINUTE } };
    const life = decided(screened('error', policy), 'proceed');
    life.portal('cancel', 2 * HOUR);
    expect(life.portalEnds('refused', 2 * HOUR).state.action).toBe('cancel');
    life.take(RECHECK).read('fail', 3 * HOUR);
    expect([life.state.decision, cancels(life)]).toEqual(['fail', ['caller refused']]);
  });

  it('ends the cancel of an unresolved review, and its attention; the limit only closes it', () => {
    const life = decided(screened('review', { onUnresolvedReview: 'cancel' }), 'proceed').until(29 * DAY);
    expect(life.state).toMatchObject({ phase: 'review', action: 'proceed', attention: [] });
    life.until(31 * DAY);
    expect(life.state).toMatchObject({ phase: 'closed', action: 'proceed', attention: [], actions: [] });
  });

  it('withdraws a queued cancel, and whoever waits for it is told', () => {
    const life = screened(unanswered());
    const ticket = life.portal('cancel');
    expect(cancels(life)).toEqual(['caller queued']);
    expect(cancels(decided(life, 'proceed'))).toEqual(['caller withdrawn']);
    expect(life.told(ticket)).toBe('action-withdrawn');
    expect(life.break('catch-up', 'canceled').underWay).toContain('catch-up:1:0');
  });

  it('is refused once a cancel was sent, until the service refused it', () => {
    const life = screened('review');
    life.portal('cancel');
    expect(decides(life, 'proceed')).toBe('cancel-under-way');
    life.withdraw(1);
    expect(cancels(life.break('portal', 'canceled'))).toEqual(['caller unconfirmed']);
    expect(decides(life, 'proceed')).toBe('cancel-under-way');
    life.portal('cancel');
    decided(life.portalEnds('refused'), 'proceed');
  });

  it('does not keep the gateway’s fail from declining', () => {
    const life = decided(screened('review', { ...PRE, reviewBeforeGateway: 'hold' }), 'proceed');
    expect(life.state.phase).toBe('awaiting-gateway');
    life.gateway('fail', 2 * HOUR);
    expect(life.state).toMatchObject({ action: 'decline', phase: 'declined' });
  });

  it('is held by the gateway’s error, and goes on with its pass', () => {
    const life = decided(screened('review', PRE), 'proceed');
    life.gateway('error', 2 * HOUR);
    expect(life.state).toMatchObject({ action: 'hold', phase: 'awaiting-gateway' });
    life.gateway('pass', 3 * HOUR);
    expect(life.state).toMatchObject({ action: 'proceed', phase: 'review', decision: 'review' });
  });

  it('is refused where the gateway declined an order that is canceled', () => {
    const life = screened('review', { ...PRE, autoCancel: false }).polled('fail', 2 * HOUR);
    life.gateway('fail', 3 * HOUR);
    expect(life.state).toMatchObject({ action: 'cancel', phase: 'decided' });
    expect(decides(life, 'proceed', 3 * HOUR)).toBe('order-declined');
  });
});

describe('a person who says cancel', () => {
  it('cancels with the service by the rules of any cancel', () => {
    const life = screened('pass', { events: 'all' });
    expect(decides(life, 'cancel')).toMatchObject({ action: 'cancel', phase: 'decided', number: 1 });
    const request = { fields: { kind: 'cancel', reason: REASON }, notAfter: expect.any(String) };
    expect(life.calls('portal')).toMatchObject([{ request }]);
    life.portalEnds('done');
    expect(life.state).toMatchObject({ decision: 'pass', action: 'cancel', phase: 'canceled' });
    const events = ['order.decided', 'order.decision_changed', 'order.canceled', 'order.closed'];
    expect(life.outbox).toEqual(events);
  });

  it('joins the policy’s, and one that a caller asked for while the order was screened', () => {
    const life = screened('fail', { ...POST, autoCancel: true });
    expect(decides(life, 'cancel')).toMatchObject({ number: 1 });
    expect(cancels(life)).toEqual(['policy running']);
    const retried = screened('fail');
    retried.retry(2, MINUTE);
    retried.portal('cancel', MINUTE);
    retried.override('cancel', MINUTE);
    expect(cancels(retried.retried('pass', MINUTE))).toEqual(['caller running']);
  });

  it('has the create stopped and looked up while the order is screened, and hears what it left', () => {
    const life = decided(screened(unanswered()), 'cancel');
    life.break('catch-up', 'canceled').lookedUp('pass');
    expect(life.state).toMatchObject({ decision: 'pass', action: 'cancel' });
    expect(life.attention).toEqual(['decision-after-override']);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 'found' } }]);
    expect(life.portalEnds('done').state.phase).toBe('canceled');
  });

  it('is told that the window is over; the action stands', () => {
    const life = screened('review').until(6 * DAY);
    expect(decides(life, 'cancel', 6 * DAY)).toMatchObject({
      ...{ decision: 'review', action: 'cancel' },
      ...{ notCanceled: 'cancel-window-closed', cancelBy: sinceStart(5 * DAY) },
    });
    expect([life.state.action, life.calls('portal')]).toEqual(['cancel', []]);
  });

  it('is told that there is no transaction; the order is canceled here', () => {
    const life = screened(REFUSED);
    const answer = { decision: 'error', action: 'cancel', phase: 'canceled', number: 1 };
    expect(decides(life, 'cancel')).toMatchObject({ ...answer, notCanceled: 'no-transaction' });
    expect(life.calls('portal')).toEqual([]);
  });

  it('stands against a later pass', () => {
    const life = decided(screened('fail', { ...POST, autoCancel: false }), 'cancel').portalEnds('refused');
    life.take(RECHECK).read('pass', 2 * HOUR);
    expect(life.state).toMatchObject({ decision: 'pass', action: 'cancel' });
    expect(life.attention).toEqual(['cancel-refused', 'decision-after-override']);
  });
});

describe('nobody decides', () => {
  it('about an order that is declined, canceled or closed, or whose policy only watches', () => {
    const canceled = decided(screened('pass'), 'cancel').portalEnds('done');
    for (const action of ['proceed', 'cancel'] as const) {
      expect(decides(screened('fail'), action, MINUTE)).toBe('order-declined');
      expect(decides(canceled, action)).toBe('order-closed');
    }
    expect(decides(screened('pass').until(6 * DAY), 'proceed', 6 * DAY)).toBe('order-closed');
    expect(decides(screened('review', { passive: true }), 'proceed')).toBe('passive');
  });
});
