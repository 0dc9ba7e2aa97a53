import { describe, expect, it } from 'vitest';
import { searchAttributesOf } from '../../../src/order/view/search-attributes.ts';
import { DAY, HOUR, MINUTE, sinceStart } from '../../fixtures/orders.ts';
import { type Life, screened } from '../life.ts';

const by = { key: 'ops', actor: 'ada@example.com' };
const timersOf = ({ timers }: Life) => timers.map(({ effect }) => effect.key);

/** Returns the value of the search attribute NeedsAttention. */
function isInNeed({ order }: Life): unknown {
  return searchAttributesOf(order).find(({ key }) => key.name === 'NeedsAttention')?.value;
}

function snooze(life: Life, until: number, at: number): Life {
  const request = { until: sinceStart(until), note: 'the customer calls back', by };
  return life.ask({ kind: 'snooze', request }, at);
}

/** Returns an order in review with a refused portal action, which an operator must look at. */
function inNeed(): Life {
  return screened('review')
    .portal('report-fraud', MINUTE)
    .portalEnds({ kind: 'refused', code: '400' }, 2 * MINUTE);
}

describe('a note', () => {
  it('is in the journal with its person, and changes nothing else', () => {
    const life = screened('review');
    const before = timersOf(life);
    life.ask({ kind: 'note', request: { text: 'x'.repeat(1_000), by } }, HOUR);
    expect(life.replies).toEqual([{ handling: { orderId: 'order-1', integration: 'default' } }]);
    const entry = { at: sinceStart(HOUR), what: 'note', by, because: 'x'.repeat(1_000) };
    expect(life.state.journal).toEqual([entry]);
    expect(timersOf(life)).toEqual(before);
  });
});

describe('an assignment', () => {
  it('is on the record and in the journal, once, until it is taken back', () => {
    const life = screened('review');
    life.ask({ kind: 'assign', request: { assignee: 'bo', by } }, HOUR);
    life.ask({ kind: 'assign', request: { assignee: 'bo', by } }, 2 * HOUR);
    expect(life.state.assignee).toBe('bo');
    expect(life.replies.at(-1)).toMatchObject({ handling: { assignee: 'bo' } });
    life.ask({ kind: 'assign', request: { by } }, 3 * HOUR);
    expect(life.state.assignee).toBeUndefined();
    expect(life.state.journal).toEqual([
      { at: sinceStart(HOUR), what: 'assign', by, assignee: 'bo' },
      { at: sinceStart(3 * HOUR), what: 'assign', by },
    ]);
  });
});

describe('a snooze', () => {
  it('takes the order out of attention until its time, by one timer', () => {
    const life = inNeed();
    expect(isInNeed(life)).toBe(true);
    const { length } = timersOf(life);
    snooze(life, 10 * HOUR, 2 * HOUR);
    expect(life.replies.at(-1)).toEqual({
      handling: { orderId: 'order-1', integration: 'default', snoozedUntil: sinceStart(10 * HOUR) },
    });
    expect([isInNeed(life), life.attention]).toEqual([false, ['portal-refused']]);
    expect(timersOf(life)).toHaveLength(length);
    expect(life.until(10 * HOUR - 1).state.snoozedUntil).toBe(sinceStart(10 * HOUR));
    expect([life.until(10 * HOUR).state.snoozedUntil, isInNeed(life)]).toEqual([undefined, true]);
    expect(life.state.journal?.at(-1)).toEqual({
      at: sinceStart(2 * HOUR),
      what: 'snooze',
      until: sinceStart(10 * HOUR),
      by,
      because: 'the customer calls back',
    });
  });

  it('can be set again, to a sooner time, and after it ended', () => {
    const life = snooze(snooze(inNeed(), 20 * HOUR, HOUR), 3 * HOUR, 2 * HOUR).until(3 * HOUR);
    expect(isInNeed(life)).toBe(true);
    snooze(life, 5 * HOUR, 4 * HOUR);
    expect(isInNeed(life)).toBe(false);
    expect(isInNeed(life.until(5 * HOUR))).toBe(true);
  });

  it('ends early when something new needs a person', () => {
    const life = snooze(inNeed(), 4.9 * DAY, HOUR).until(4.5 * DAY);
    expect(life.attention).toEqual(['portal-refused', 'review-unresolved']);
    expect([life.state.snoozedUntil, isInNeed(life)]).toEqual([undefined, true]);
  });

  it('ends early when the phase changes', () => {
    const life = snooze(inNeed(), 4 * DAY, HOUR).polled('pass', 2 * HOUR);
    expect([life.phase, life.state.snoozedUntil, isInNeed(life)]).toEqual(['decided', undefined, true]);
  });

  it.each([
    ['now', HOUR, /must be in the future/],
    ['after the end of the cancel window', 5 * DAY + 1, /must not be later than 20\d\d-/],
  ])('is refused if it lies %s', (_what, until, words) => {
    const life = snooze(inNeed(), until, HOUR);
    const refusal = { code: 'invalid-request', errors: [{ path: 'until' }] };
    expect(life.replies.at(-1)).toMatchObject({ refusal });
    expect(life.replies.at(-1)).toMatchObject({ refusal: { message: expect.stringMatching(words) } });
    expect(life.state.journal).toHaveLength(1);
  });

  it('may last until the end of the window, and of a review whose window is over until the review limit', () => {
    const life = snooze(inNeed(), 5 * DAY, HOUR);
    expect(life.told.at(-1)).toBe('answered');
    life.until(6 * DAY).acknowledge(6 * DAY);
    snooze(life, 30 * DAY, 6 * DAY);
    expect(life.told.at(-1)).toBe('answered');
    snooze(life, 30 * DAY + 1, 6 * DAY);
    expect(life.told.at(-1)).toBe('invalid-request');
  });

  it('is refused by an order that is over, and does not outlive one', () => {
    const life = screened('pass', { workflow: 'pre-gateway', events: 'all' }).gateway('pass', MINUTE);
    snooze(life, 4 * DAY, HOUR);
    expect(life.until(5 * DAY)).toMatchObject({ phase: 'closed', state: { endedAt: sinceStart(5 * DAY) } });
    expect(life.state.snoozedUntil).toBeUndefined();
    snooze(life, 6 * DAY, 5.5 * DAY);
    expect(life.told.at(-1)).toBe('order-closed');
  });
});

describe('an acknowledge before the end of the window', () => {
  it('silences neither the end of the window nor a later, different cause', () => {
    const life = inNeed().acknowledge(HOUR);
    expect(life.attention).toEqual([]);
    life.portal('customer-code', 2 * HOUR).portalEnds({ kind: 'refused', code: '400' }, 3 * HOUR);
    expect(life.attention).toEqual(['portal-refused']);
    life.acknowledge(4 * HOUR).until(4.5 * DAY);
    expect(life.attention).toEqual(['review-unresolved']);
    expect(life.acknowledge(4.6 * DAY).told.at(-1)).toBe('attention-stands');
  });

  it('does not silence a cancel that is still due', () => {
    const life = screened('review').polled('fail', 4.6 * DAY);
    life.portalEnds({ kind: 'refused', code: '400' }, 4.6 * DAY).acknowledge(4.7 * DAY);
    expect(life.told.at(-1)).toBe('attention-stands');
    expect(life.attention).toEqual(['cancel-refused']);
    expect(
      life
        .until(5 * DAY)
        .acknowledge(5 * DAY)
        .replies.at(-1),
    ).toEqual({ cleared: 1 });
  });
});
