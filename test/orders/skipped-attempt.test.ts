import { expect, it } from 'vitest';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import { isFinished } from '../../src/orders/kernel.ts';
import { answered, HOUR, MINUTE, sinceStart, TRANSACTION_ID, unanswered } from '../fixtures/orders.ts';
import { type Life, screened } from './life.ts';

const SKIPPED = { kind: 'skipped', rule: 0 } as const;
const GIFT_CARD = { payment: { method: 'gift card' } };

/** An order whose first attempt was declined and whose second one, in another way to pay, is being screened. */
function withGiftCard(workflow: 'pre-gateway' | 'pre-acceptance' = 'pre-gateway'): Life {
  const life = screened('fail', { workflow, events: 'all' });
  life.ask({ kind: 'retry', request: { attempt: 2, transaction: GIFT_CARD } }, MINUTE);
  return life;
}

it('a later attempt that policy skips proceeds, says so, and leaves the first attempt’s transaction on record', () => {
  const life = withGiftCard();
  life.end({ kind: 'retry-screening', outcome: SKIPPED }, MINUTE);
  const { state, outbox } = life.order;
  expect(state).toMatchObject({ phase: 'decided', decision: 'skipped', action: 'proceed', attention: [] });
  expect(state.attempts.map(({ decision }) => decision)).toEqual(['fail', 'skipped']);
  expect(state.transactions).toMatchObject([{ id: TRANSACTION_ID, attempt: 1 }]);
  expect(state.attempts[1]?.answer).toMatchObject({ attempt: 2, decision: 'skipped', action: 'proceed' });
  expect(outbox.map(({ type, data }) => [type, data.decision, data.attempt])).toEqual([
    ['order.decided', 'fail', 1],
    ['order.decided', 'skipped', 2],
  ]);
  expect(life.underWay.filter((key) => !key.startsWith('deliver'))).toEqual([]);
});

it('its gateway result is recorded and not sent, and the order ends', () => {
  const life = withGiftCard();
  life.end({ kind: 'retry-screening', outcome: SKIPPED }, MINUTE);
  life.ask({ kind: 'gateway-result', request: { attempt: 2, result: 'pass' } }, 2 * MINUTE);
  expect(life.order.state.attempts[1]?.gateway).toMatchObject({ result: 'pass', sent: 'recorded' });
  expect(life.calls('gateway')).toEqual([]);
  life.until(HOUR).end({ kind: 'deliver' }, HOUR);
  while (life.order.outbox.length > 0) life.end({ kind: 'deliver' }, HOUR);
  expect(life.order.state.phase).toBe('closed');
  expect(isFinished(life.order)).toBe(true);
});

it('the transaction of the first attempt can still be canceled by its name; the skipped attempt has none', () => {
  const life = withGiftCard();
  life.end({ kind: 'retry-screening', outcome: SKIPPED }, MINUTE);
  const refused = (fields: { kind: 'cancel'; transactionId?: string }) =>
    refusalOf(life.order, { kind: 'portal', fields }, sinceStart(2 * MINUTE))?.code;
  expect(refused({ kind: 'cancel', transactionId: TRANSACTION_ID })).toBeUndefined();
  expect(refused({ kind: 'cancel' })).toBe('no-transaction');
});

it('a catch-up is told that the skip rules were not read only where the checkout failed before', () => {
  const broken = withGiftCard('pre-acceptance').break('retry-screening');
  expect(broken.calls('catch-up')[0]?.request.mayBeSkipped).toBe(true);
  broken.end({ kind: 'catch-up', outcome: SKIPPED }, 2 * MINUTE);
  expect(broken.order.state).toMatchObject({ phase: 'closed', decision: 'skipped', action: 'proceed' });
  expect(broken.order.state).not.toHaveProperty('reason');

  const screenedBefore = withGiftCard('pre-acceptance');
  screenedBefore.end({ kind: 'retry-screening', outcome: unanswered() }, MINUTE);
  expect(screenedBefore.calls('catch-up')[0]?.request).not.toHaveProperty('mayBeSkipped');

  const again = withGiftCard('pre-acceptance').break('retry-screening');
  again.end({ kind: 'catch-up', outcome: answered('error', 'second') }, 2 * MINUTE).until(4 * MINUTE);
  expect(again.calls('catch-up')).toHaveLength(2);
  expect(again.calls('catch-up')[1]?.request).not.toHaveProperty('mayBeSkipped');
});

it('an attempt that breaks a rule of ours is not blamed on the screening service', () => {
  const life = withGiftCard();
  const words = 'payment.creditCard is required';
  life.end(
    { kind: 'retry-screening', outcome: { kind: 'refused', reason: 'invalid-request', words } },
    MINUTE,
  );
  expect(life.order.state.attention).toMatchObject([
    {
      code: 'no-decision',
      words: 'The transaction is invalid and was not sent: payment.creditCard is required.',
    },
  ]);
});
