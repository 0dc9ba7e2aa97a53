import { describe, expect, it } from 'vitest';
import type { OrderEventType } from '../../../src/contract/messages.ts';
import type { OrderState } from '../../../src/contract/order/state.ts';
import { applyReading } from '../../../src/order/decide.ts';
import { eventToSend } from '../../../src/order/events.ts';
import { currentAttempt } from '../../../src/order/record.ts';
import { applyScreening } from '../../../src/order/screening/apply-screening.ts';
import { answerNow } from '../../../src/order/view/answers.ts';
import {
  announced,
  anOrder,
  answered,
  attention,
  HOUR,
  sinceStart,
  unanswered,
} from '../../fixtures/orders.ts';

const ENRICHED = {
  insights: { risk: { '1': { name: 'velocity', impact: 'high' } } },
  accountMode: 'test',
  passiveMode: false,
  subStatus: 'manual-review',
} as const;
const REVIEW = { ...answered('review'), ...ENRICHED };

function dataOf(order: OrderState, type: OrderEventType) {
  return eventToSend(order, announced(order, type, HOUR)).data;
}

describe('what the service says beside a decision', () => {
  it('is kept with the decision that came after pending, and told with it', () => {
    const order = anOrder(unanswered());
    const moment = { source: 'catch-up', now: sinceStart(HOUR) } as const;
    expect(applyScreening(order, REVIEW, moment)).toEqual(['order.decided']);
    expect(currentAttempt(order).readings.at(-1)).toMatchObject({ decision: 'review', ...ENRICHED });
    expect(dataOf(order, 'order.decided')).toMatchObject(ENRICHED);
    expect(answerNow(order, 1)).toMatchObject({ decision: 'review', insights: ENRICHED.insights });
  });

  it('is kept with a later reading, in place of what came before', () => {
    const order = anOrder(REVIEW);
    applyReading(order, { kind: 'read', decision: 'pass', subStatus: 'approved' }, 'poll', sinceStart(HOUR));
    const later = { decision: 'pass', subStatus: 'approved' };
    expect(currentAttempt(order).readings).toMatchObject([{ decision: 'review', ...ENRICHED }, later]);
    const data = dataOf(order, 'order.decision_changed');
    expect(data).toMatchObject({ subStatus: 'approved' });
    expect(data).not.toHaveProperty('insights');
  });

  it('is not told again with what brings no decision', () => {
    const data = dataOf(anOrder(REVIEW), 'order.attention');
    for (const name of Object.keys(ENRICHED)) expect(data).not.toHaveProperty(name);
  });

  it('asks for attention where the account is of another mode than the integration', () => {
    expect(attention(anOrder(REVIEW))).toEqual([]);
    expect(attention(anOrder({ ...REVIEW, otherMode: true }))).toEqual(['account-mode']);
  });
});
