import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { spacingDeadline } from '../../src/orders/deadlines.ts';
import { hintIsNews, keepHint, takeHint } from '../../src/orders/hints.ts';
import { passDeadline } from '../../src/orders/pass-deadline.ts';
import { setPhase } from '../../src/orders/phase.ts';
import type { OrderState } from '../../src/orders/state.ts';
import type { Phase } from '../../src/orders/words.ts';
import { aNewOrder, anOrder, DAY, HOUR, MINUTE, START, sinceStart, TRANSACTION_ID } from './support.ts';

const HINT = { source: 'webhook', receivedAt: sinceStart(0) };

/** A hint that comes at `at` (ms from the start), as the workflow handles it. @returns whether it was taken */
function hint(order: OrderState, at: number): boolean {
  const spacing = spacingDeadline(order);
  if (spacing !== undefined && Date.parse(spacing.at) <= START + at) {
    passDeadline(order, spacing.kind, spacing.at);
  }
  if (!hintIsNews(order, HINT, START + at)) return false;
  keepHint(order);
  takeHint(order, START + at);
  return true;
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

  it('is no news while one is unread', () => {
    const order = aNewOrder();
    keepHint(order);
    expect(hintIsNews(order, HINT, START)).toBe(false);
  });

  it.each(['null', '"news"', '{}', '{"transactionId":null}'])('sent by hand as %s does no harm', (json) => {
    expect(hintIsNews(anOrder('review'), JSON.parse(json), START)).toBe(true);
  });
});

describe('the spacing between reads', () => {
  it('is 2 s, doubles while hints keep coming, up to 5 min', () => {
    const order = anOrder('review');
    const spacings: number[] = [];
    for (let at = 0; spacings.length < 10; at += order.hints.spacingMs) {
      expect(hint(order, at)).toBe(true);
      expect(hint(order, at + order.hints.spacingMs - 1)).toBe(false);
      spacings.push(order.hints.spacingMs);
    }
    expect(spacings).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));
  });

  it('is 2 s again after a quiet time', () => {
    const order = anOrder('review');
    hint(order, 0);
    hint(order, 2_000);
    expect(order.hints.spacingMs).toBe(4_000);
    hint(order, MINUTE);
    expect(order.hints.spacingMs).toBe(2_000);
  });

  it('ends with a read, so that nothing turned away is lost', () => {
    const order = anOrder('review');
    hint(order, 0);
    expect(hint(order, 1_000)).toBe(false);
    const spacing = spacingDeadline(order);
    expect(spacing).toMatchObject({ kind: 'hint-spacing', at: sinceStart(2_000) });
    expect(passDeadline(order, 'hint-spacing', sinceStart(2_000)).read).toBe(true);
  });

  test.prop([fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 5_000 })])(
    'bounds what any flood of an hour can cause',
    (moments) => {
      const order = anOrder('review');
      const taken = moments.sort((a, b) => a - b).filter((at) => hint(order, at));
      // A spacing that has grown shrinks again only after as long a silence.
      expect(taken.length).toBeLessThanOrEqual(HOUR / 2_000);
      for (const [index, at] of taken.entries())
        expect(at - (taken[index - 1] ?? -DAY)).toBeGreaterThanOrEqual(2_000);
    },
  );

  test.prop([fc.integer({ min: 200, max: 900 })], { numRuns: 10 })(
    'lets a steady flood cause few reads',
    (everyMs) => {
      const order = anOrder('review');
      let taken = 0;
      for (let at = 0; at < HOUR; at += everyMs) if (hint(order, at)) taken += 1;
      expect(taken).toBeLessThan(25);
    },
  );
});
