import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import type { OrderEventType } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/state.ts';
import { answerNow } from '../../src/orders/answers.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import { eventToSend } from '../../src/orders/events.ts';
import { currentAttempt } from '../../src/orders/record.ts';
import { announced, anOrder, answered, attention, HOUR, sinceStart, unanswered } from '../fixtures/orders.ts';

const ENRICHED = {
  insights: { risk: { '1': { name: 'velocity', impact: 'high' } } },
  accountMode: 'test',
  passiveMode: false,
  subStatus: 'manual-review',
} as const;
const enriched = (more: { otherMode?: true } = {}): ScreeningOutcome => ({
  ...answered('review'),
  ...ENRICHED,
  ...more,
});

/** @returns the order's next event, as it is sent */
function sent(order: OrderState, type: OrderEventType) {
  return eventToSend(order, announced(order, type, HOUR));
}

describe('what the service says beside a decision', () => {
  it('is kept with the decision that came after pending, and told with it', () => {
    const order = anOrder(unanswered());
    const moment = { source: 'catch-up', now: sinceStart(HOUR) } as const;
    expect(applyScreening(order, enriched(), moment)).toEqual(['order.decided']);
    expect(currentAttempt(order).readings.at(-1)).toMatchObject({ decision: 'review', ...ENRICHED });
    expect(sent(order, 'order.decided').data).toMatchObject(ENRICHED);
    expect(answerNow(order, 1)).toMatchObject({ decision: 'review', insights: ENRICHED.insights });
  });

  it('is kept with a later reading, in place of what came before', () => {
    const order = anOrder(enriched());
    applyReading(order, { kind: 'read', decision: 'pass', subStatus: 'approved' }, 'poll', sinceStart(HOUR));
    expect(currentAttempt(order).readings).toMatchObject([
      { decision: 'review', ...ENRICHED },
      { decision: 'pass', subStatus: 'approved' },
    ]);
    const { data } = sent(order, 'order.decision_changed');
    expect(data).toMatchObject({ subStatus: 'approved' });
    expect(data).not.toHaveProperty('insights');
  });

  it('is not told again with what brings no decision', () => {
    const { data } = sent(anOrder(enriched()), 'order.attention');
    expect(data).not.toHaveProperty('insights');
    expect(data).not.toHaveProperty('accountMode');
  });

  it('asks for attention where the account is of another mode than the integration', () => {
    expect(attention(anOrder(enriched()))).toEqual([]);
    expect(attention(anOrder(enriched({ otherMode: true })))).toEqual(['account-mode']);
  });
});
