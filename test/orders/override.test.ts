import { describe, expect, it } from 'vitest';
import type { OverrideAction } from '../../src/contract/words.ts';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import { answered, attention, DAY, HOUR, MINUTE, sinceStart, unanswered } from '../fixtures/orders.ts';
import { aLife, type Life, RECHECK, screened } from './life.ts';

const REASON = 'the customer showed the card';

/** A person decides. @returns the answer, or the code of the refusal */
function decides(life: Life, action: OverrideAction, at = HOUR) {
  const ask = { kind: 'override' as const, request: { action, reason: REASON } };
  const refused = refusalOf(life.order, ask, sinceStart(at));
  if (refused !== undefined) return refused.code;
  const reply = life.replies.get(life.ask(ask, at));
  return reply !== undefined && 'override' in reply ? reply.override : reply;
}

const reads = (life: Life, decision: 'pass' | 'fail' | 'review', at = 2 * HOUR) =>
  life.end({ kind: 'poll', outcome: { kind: 'read', decision } }, at);

const cancels = ({ order }: Life) =>
  order.state.actions.filter(({ kind }) => kind === 'cancel').map(({ by, status }) => `${by} ${status}`);

describe('a person decides', () => {
  it('the action; the decision stays the service’s word, and who, when and why stand on the record', () => {
    const life = screened('review', { events: 'all' });
    expect(decides(life, 'proceed')).toEqual({
      orderId: 'order-1',
      integration: 'default',
      attempt: 1,
      decision: 'review',
      action: 'proceed',
      phase: 'review',
      transactionId: expect.any(String),
      cancelBy: sinceStart(5 * DAY),
    });
    const { state, outbox } = life.order;
    expect(state).toMatchObject({ decision: 'review', action: 'proceed' });
    expect(state.attempts[0]?.override).toEqual({
      action: 'proceed',
      reason: REASON,
      by: 'person',
      at: sinceStart(HOUR),
    });
    expect(outbox.at(-1)).toMatchObject({
      type: 'order.decision_changed',
      data: { by: 'person', decision: 'review', action: 'proceed' },
    });
    expect(outbox[0]?.data).not.toHaveProperty('by');
  });

  it('and attention about the decision is cleared, other attention not', () => {
    const life = screened('review', { events: 'all' });
    life.order.state.attention.push({ code: 'portal-unconfirmed', words: 'x', since: '', cause: {} });
    life.until(5 * DAY - 1);
    expect(attention(life.order.state)).toEqual(['portal-unconfirmed', 'review-unresolved']);
    decides(life, 'proceed', 5 * DAY - 1);
    expect(attention(life.order.state)).toEqual(['portal-unconfirmed']);
  });

  it('of an order without a decision, too, which is screened on', () => {
    const life = screened(unanswered());
    expect(decides(life, 'proceed', MINUTE)).toMatchObject({
      decision: 'pending',
      action: 'proceed',
      phase: 'screening',
    });
    life.end({ kind: 'catch-up', outcome: answered('fail') }, HOUR);
    expect(life.order.state).toMatchObject({ decision: 'fail', action: 'proceed', phase: 'decided' });
    expect(attention(life.order.state)).toEqual(['decision-after-override']);
    expect(cancels(life)).toEqual([]);
  });

  it('once the checkout is answered', () => {
    const life = aLife();
    const ticket = life.ask({ kind: 'override', request: { action: 'cancel', reason: REASON } }, 0);
    expect(life.replies.get(ticket)).toBeUndefined();
    screened('review', {}, life);
    expect(life.replies.get(ticket)).toMatchObject({ override: { action: 'cancel', number: 1 } });
  });

  it('and what the service says later is recorded, announced as attention, and changes the action no more', () => {
    const life = screened('review', { events: 'all' });
    decides(life, 'proceed');
    life.order.outbox.length = 0;
    reads(life, 'fail');
    expect(life.order.state).toMatchObject({ decision: 'fail', action: 'proceed', phase: 'decided' });
    expect(life.outbox).toEqual(['order.review_resolved', 'order.attention']);
    expect(life.order.state.attention[0]?.words).toContain('«fail»');
    life.take(RECHECK);
    life.end({ kind: 'read', outcome: { kind: 'read', decision: 'pass' } }, 3 * HOUR);
    expect(life.order.state).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(life.order.state.attention.map(({ words }) => words)).toEqual([expect.stringContaining('«pass»')]);
  });

  it('as often as they like: the last one counts', () => {
    const life = screened('review', { autoCancel: true });
    decides(life, 'proceed');
    reads(life, 'fail');
    expect(decides(life, 'cancel', 3 * HOUR)).toMatchObject({
      decision: 'fail',
      action: 'cancel',
      number: 1,
    });
    expect(attention(life.order.state)).toEqual([]);
    life.end({ kind: 'portal', outcome: { kind: 'refused', message: 'Too old' } }, 3 * HOUR);
    expect(decides(life, 'proceed', 4 * HOUR)).toMatchObject({ action: 'proceed', phase: 'decided' });
    expect(attention(life.order.state)).toEqual([]);
  });

  it('until a new attempt comes', () => {
    const life = screened({ kind: 'refused', reason: 'refused' });
    decides(life, 'proceed');
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, 2 * HOUR);
    expect(life.order.state.action).toBe('hold');
    life.end({ kind: 'retry-screening', outcome: answered('fail', 't-2') }, 2 * HOUR);
    expect(life.order.state).toMatchObject({ decision: 'fail', action: 'decline', phase: 'declined' });
    expect(life.order.state.attempts.map(({ override }) => override?.action)).toEqual(['proceed', undefined]);
  });
});

describe('a person who says proceed', () => {
  it('ends the automatic cancels of the attempt', () => {
    const life = screened('review', { autoCancel: true });
    decides(life, 'proceed');
    reads(life, 'fail');
    life.until(6 * DAY);
    expect(life.calls('portal')).toEqual([]);
    expect(life.order.state).toMatchObject({ phase: 'closed', action: 'proceed' });
  });

  it('ends them also where a caller’s cancel was refused since', () => {
    const life = screened('error', { autoCancel: true, rescreenOnError: { tries: 0, pauseMs: MINUTE } });
    decides(life, 'proceed');
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, 2 * HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'refused' } }, 2 * HOUR);
    expect(life.order.state.action).toBe('cancel');
    life.take(RECHECK);
    life.end({ kind: 'read', outcome: { kind: 'read', decision: 'fail' } }, 3 * HOUR);
    expect(life.order.state.decision).toBe('fail');
    expect(cancels(life)).toEqual(['caller refused']);
  });

  it('ends the cancel of an unresolved review, and its attention; the limit only closes it', () => {
    const life = screened('review', { onUnresolvedReview: 'cancel', events: 'all' });
    decides(life, 'proceed');
    life.until(29 * DAY);
    expect(life.order.state).toMatchObject({ phase: 'review', action: 'proceed', attention: [] });
    life.until(31 * DAY);
    expect(life.order.state).toMatchObject({ phase: 'closed', action: 'proceed', attention: [] });
    expect(cancels(life)).toEqual([]);
  });

  it('withdraws a queued cancel, and whoever waits for it is told', () => {
    const life = screened(unanswered());
    const ticket = life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, MINUTE);
    expect(cancels(life)).toEqual(['caller queued']);
    expect(decides(life, 'proceed', MINUTE)).toMatchObject({ action: 'proceed', phase: 'screening' });
    expect(cancels(life)).toEqual(['caller withdrawn']);
    expect(life.replies.get(ticket)).toMatchObject({ refusal: { code: 'action-withdrawn' } });
    life.break('catch-up', 'canceled');
    expect(life.underWay).toContain('catch-up:1:0');
  });

  it('is refused once a cancel was sent, until the service refused it', () => {
    const life = screened('review');
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
    expect(decides(life, 'proceed')).toBe('cancel-under-way');
    life.ask({ kind: 'withdraw', request: { number: 1 } }, HOUR);
    life.break('portal', 'canceled');
    expect(cancels(life)).toEqual(['caller unconfirmed']);
    expect(decides(life, 'proceed')).toBe('cancel-under-way');
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, 2 * HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'refused' } }, 2 * HOUR);
    expect(decides(life, 'proceed', 2 * HOUR)).toMatchObject({ action: 'proceed' });
  });

  it('does not keep the gateway’s fail from declining', () => {
    const life = screened('review', { workflow: 'pre-gateway', reviewBeforeGateway: 'hold' });
    expect(decides(life, 'proceed')).toMatchObject({ phase: 'awaiting-gateway' });
    life.ask({ kind: 'gateway-result', request: { attempt: 1, result: 'fail' } }, 2 * HOUR);
    expect(life.order.state).toMatchObject({ action: 'decline', phase: 'declined' });
    expect(decides(life, 'proceed', 2 * HOUR)).toBe('order-declined');
  });

  it('is held by the gateway’s error, and goes on with its pass', () => {
    const life = screened('review', { workflow: 'pre-gateway' });
    decides(life, 'proceed');
    life.ask({ kind: 'gateway-result', request: { attempt: 1, result: 'error' } }, 2 * HOUR);
    expect(life.order.state).toMatchObject({ action: 'hold', phase: 'awaiting-gateway' });
    life.ask({ kind: 'gateway-result', request: { attempt: 1, result: 'pass' } }, 3 * HOUR);
    expect(life.order.state).toMatchObject({ action: 'proceed', phase: 'review', decision: 'review' });
  });

  it('is refused where the gateway declined an order that is canceled', () => {
    const life = screened('review', { workflow: 'pre-gateway', autoCancel: false });
    reads(life, 'fail');
    life.ask({ kind: 'gateway-result', request: { attempt: 1, result: 'fail' } }, 3 * HOUR);
    expect(life.order.state).toMatchObject({ action: 'cancel', phase: 'decided' });
    expect(decides(life, 'proceed', 3 * HOUR)).toBe('order-declined');
  });
});

describe('a person who says cancel', () => {
  it('cancels with the service by the rules of any cancel, or joins one', () => {
    const joined = screened('fail', { workflow: 'post-acceptance', autoCancel: true });
    expect(decides(joined, 'cancel')).toMatchObject({ number: 1 });
    expect(cancels(joined)).toEqual(['policy running']);
    const life = screened('pass', { events: 'all' });
    expect(decides(life, 'cancel')).toMatchObject({ action: 'cancel', phase: 'decided', number: 1 });
    expect(life.calls('portal')).toMatchObject([
      { request: { fields: { kind: 'cancel', reason: REASON }, notAfter: expect.any(String) } },
    ]);
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, HOUR);
    expect(life.order.state).toMatchObject({ decision: 'pass', action: 'cancel', phase: 'canceled' });
    expect(life.outbox).toEqual([
      'order.decided',
      'order.decision_changed',
      'order.canceled',
      'order.closed',
    ]);
  });

  it('joins one that a caller asked for while the order was screened', () => {
    const life = screened('fail', { workflow: 'pre-acceptance' });
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, MINUTE);
    life.ask({ kind: 'override', request: { action: 'cancel', reason: 'by hand' } }, MINUTE);
    life.end({ kind: 'retry-screening', outcome: answered('pass', 't-2') }, MINUTE);
    expect(life.order.state.actions.filter(({ kind }) => kind === 'cancel')).toHaveLength(1);
  });

  it('has the create stopped and looked up while the order is screened, and hears what it left', () => {
    const life = screened(unanswered(), { events: 'all' });
    expect(decides(life, 'cancel', MINUTE)).toMatchObject({ decision: 'pending', action: 'cancel' });
    life.break('catch-up', 'canceled');
    life.end({ kind: 'look-up', outcome: { kind: 'found', transactionId: 't-1', decision: 'pass' } }, HOUR);
    expect(life.order.state).toMatchObject({ decision: 'pass', action: 'cancel' });
    expect(attention(life.order.state)).toEqual(['decision-after-override']);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 't-1' } }]);
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, HOUR);
    expect(life.order.state.phase).toBe('canceled');
  });

  it('is told that the window is over; the action stands', () => {
    const life = screened('review');
    life.until(6 * DAY);
    expect(decides(life, 'cancel', 6 * DAY)).toMatchObject({
      decision: 'review',
      action: 'cancel',
      notCanceled: 'cancel-window-closed',
      cancelBy: sinceStart(5 * DAY),
    });
    expect(life.order.state.action).toBe('cancel');
    expect(life.calls('portal')).toEqual([]);
  });

  it('is told that there is no transaction; the order is canceled here', () => {
    const life = screened({ kind: 'refused', reason: 'refused' });
    expect(decides(life, 'cancel')).toMatchObject({
      decision: 'error',
      action: 'cancel',
      phase: 'canceled',
      number: 1,
      notCanceled: 'no-transaction',
    });
    expect(life.calls('portal')).toEqual([]);
  });

  it('stands against a later pass', () => {
    const life = screened('fail', { workflow: 'post-acceptance', autoCancel: false });
    decides(life, 'cancel');
    life.end({ kind: 'portal', outcome: { kind: 'refused' } }, HOUR);
    life.take(RECHECK);
    life.end({ kind: 'read', outcome: { kind: 'read', decision: 'pass' } }, 2 * HOUR);
    expect(life.order.state).toMatchObject({ decision: 'pass', action: 'cancel' });
    expect(attention(life.order.state)).toEqual(['cancel-refused', 'decision-after-override']);
  });
});

describe('nobody decides', () => {
  it('about an order that is declined, canceled or closed, or whose policy only watches', () => {
    for (const action of ['proceed', 'cancel'] as const)
      expect(decides(screened('fail'), action, MINUTE)).toBe('order-declined');
    const canceled = screened('pass');
    decides(canceled, 'cancel');
    canceled.end({ kind: 'portal', outcome: { kind: 'done' } }, HOUR);
    expect(decides(canceled, 'proceed')).toBe('order-closed');
    expect(decides(canceled, 'cancel')).toBe('order-closed');
    expect(decides(screened('pass').until(6 * DAY), 'proceed', 6 * DAY)).toBe('order-closed');
    expect(decides(screened('review', { passive: true }), 'proceed')).toBe('passive');
  });
});
