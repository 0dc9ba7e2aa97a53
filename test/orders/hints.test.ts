import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endSpacing,
  hintIsNews,
  hintReadable,
  keepHint,
  spacingDeadline,
  takeHint,
} from '../../src/orders/deadlines.ts';
import { setPhase } from '../../src/orders/record.ts';
import type { Phase } from '../../src/orders/words.ts';
import { property } from '../support/property.ts';
import { aLife, screened } from './life.ts';
import {
  aNewOrder,
  anOrder,
  answered,
  attention,
  DAY,
  HOUR,
  MINUTE,
  START,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from './support.ts';

const HINT = { source: 'webhook', receivedAt: sinceStart(0) };

/** An order that hints come to, as its workflow handles them; moments in ms from the start, in their order. */
class Hinted {
  readonly order = anOrder('review');
  readonly reads: number[] = [];

  /** @returns whether a hint is taken that comes then */
  hint(at: number): boolean {
    this.until(at);
    if (!hintIsNews(this.order, HINT, START + at)) return false;
    keepHint(this.order);
    this.#read(at);
    return true;
  }

  /** Lets the time pass. */
  until(at: number): void {
    for (;;) {
      const { until } = this.order.hints;
      if (until === undefined || Date.parse(until) > START + at) return;
      endSpacing(this.order);
      this.#read(Date.parse(until) - START);
    }
  }

  #read(at: number): void {
    if (!hintReadable(this.order)) return;
    takeHint(this.order, sinceStart(at));
    this.reads.push(at);
  }
}

describe('a hint', () => {
  it('is news in every phase but the last two', () => {
    const phases: Phase[] = [
      'screening',
      'awaiting-gateway',
      'review',
      'declined',
      'decided',
      'canceled',
      'closed',
    ];
    const news = phases.filter((phase) => {
      const order = anOrder('review');
      setPhase(order, phase, sinceStart(0));
      return hintIsNews(order, HINT, START);
    });
    expect(news).toEqual(['screening', 'awaiting-gateway', 'review', 'declined', 'decided']);
  });

  it('about a transaction that isn’t the order’s is no news, before the first one is known it may be', () => {
    const other = { ...HINT, transactionId: 'another' };
    expect(hintIsNews(anOrder('review'), other, START)).toBe(false);
    expect(hintIsNews(anOrder('review'), { ...HINT, transactionId: TRANSACTION_ID }, START)).toBe(true);
    expect(hintIsNews(aNewOrder(), other, START)).toBe(true);
  });

  it('about another transaction is kept while an order is screened again, which may make that one', () => {
    const order = anOrder('error');
    expect(order.phase).toBe('screening');
    expect(hintIsNews(order, { ...HINT, transactionId: 'another' }, START)).toBe(true);
  });

  it('is no news while one is unread', () => {
    const order = aNewOrder();
    keepHint(order);
    expect(hintIsNews(order, HINT, START)).toBe(false);
  });

  it.each(['null', '"news"', '{}', '{"transactionId":null}'])('sent by hand as %s does no harm', (json) => {
    expect(hintIsNews(anOrder('review'), JSON.parse(json), START)).toBe(true);
  });
});

it('a hint that is kept while the order is screened is read even if the window has closed meanwhile', () => {
  const life = aLife().take({ kind: 'signal', signal: 'review-hint', hint: HINT });
  screened(unanswered(), { cancelWindowMs: MINUTE, workflow: 'post-acceptance' }, life);
  life.end({ kind: 'look', outcome: undefined }, 0);
  life.end({ kind: 'catch-up', outcome: answered('pass') }, HOUR);
  life.end({ kind: 'look', outcome: { kind: 'read', decision: 'fail' } }, HOUR);
  expect(life.order.state).toMatchObject({ phase: 'closed', decision: 'fail', action: 'cancel' });
  expect(attention(life.order.state)).toEqual(['failed-after-window']);
  expect(life.calls('portal')).toEqual([]);
});

describe('the spacing between reads', () => {
  it('is 2 s, doubles while hints keep coming, up to 5 min', () => {
    const hinted = new Hinted();
    const spacings: number[] = [];
    hinted.hint(0);
    for (let at = 0; spacings.length < 10; at += hinted.order.hints.spacingMs) {
      hinted.until(at);
      expect(hinted.reads.at(-1)).toBe(at);
      expect(hinted.hint(at + 1)).toBe(true);
      spacings.push(hinted.order.hints.spacingMs);
    }
    expect(spacings).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));
  });

  it('is 2 s again after a quiet time', () => {
    const hinted = new Hinted();
    hinted.hint(0);
    hinted.hint(2_000);
    expect(hinted.order.hints.spacingMs).toBe(4_000);
    hinted.hint(MINUTE);
    expect(hinted.order.hints.spacingMs).toBe(2_000);
  });

  it('costs no timer when one hint comes alone', () => {
    const hinted = new Hinted();
    hinted.hint(0);
    expect(spacingDeadline(hinted.order)).toBeUndefined();
  });

  it('keeps the first hint that comes within it and reads at its end, so that nothing turned away is lost', () => {
    const hinted = new Hinted();
    hinted.hint(0);
    expect([hinted.hint(1_000), hinted.hint(1_500)]).toEqual([true, false]);
    expect(hinted.reads).toEqual([0]);
    expect(spacingDeadline(hinted.order)).toEqual({ kind: 'hint-spacing', at: sinceStart(2_000) });
    hinted.until(2_000);
    expect(hinted.reads).toEqual([0, 2_000]);
  });

  it('ends unseen while the order is screened: the kept hint is read after it', () => {
    const { order } = new Hinted();
    setPhase(order, 'screening', sinceStart(0));
    keepHint(order);
    expect(hintReadable(order)).toBe(false);
    setPhase(order, 'review', sinceStart(1));
    expect(hintReadable(order)).toBe(true);
  });

  property([fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 5_000 })])(
    'bounds what any flood of an hour can cause, and reads after its last hint',
    (moments) => {
      const hinted = new Hinted();
      for (const at of moments.sort((a, b) => a - b)) hinted.hint(at);
      hinted.until(DAY);
      const { reads } = hinted;
      // A spacing that has grown shrinks again only after as long a silence.
      expect(reads.length).toBeLessThanOrEqual(HOUR / 2_000 + 1);
      for (const [index, at] of reads.entries())
        expect(at - (reads[index - 1] ?? -DAY)).toBeGreaterThanOrEqual(2_000);
      expect(reads.at(-1) ?? 0).toBeGreaterThanOrEqual(moments.at(-1) ?? 0);
    },
  );

  property([fc.integer({ min: 200, max: 900 })], { numRuns: 10 })(
    'lets a steady flood cause few reads',
    (everyMs) => {
      const hinted = new Hinted();
      for (let at = 0; at < HOUR; at += everyMs) hinted.hint(at);
      expect(hinted.reads.length).toBeLessThan(25);
    },
  );
});
