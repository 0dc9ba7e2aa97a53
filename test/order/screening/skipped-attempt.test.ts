import { expect, it } from 'vitest';
import { answered, MINUTE, TRANSACTION_ID, unanswered } from '../../fixtures/orders.ts';
import { type Life, screened } from '../life.ts';

const SKIPPED = { kind: 'skipped', rule: 0 } as const;

/** An order whose first attempt was declined, and whose second one is being screened. */
function retrying(workflow: 'pre-gateway' | 'pre-acceptance' = 'pre-acceptance'): Life {
  const transaction = { payment: { method: 'gift card' } };
  return screened('fail', { workflow, events: 'all' }).retry(2, MINUTE, transaction);
}

const skipped = () => retrying('pre-gateway').retried(SKIPPED, MINUTE);

it('a later attempt that policy skips proceeds, says so, and leaves the first attempt’s transaction on record', () => {
  const { state, order, underWay } = skipped();
  const decided = { decision: 'skipped', action: 'proceed' };
  expect(state).toMatchObject({ ...decided, phase: 'decided', attention: [] });
  expect(state.attempts.map(({ decision }) => decision)).toEqual(['fail', 'skipped']);
  expect(state.transactions).toMatchObject([{ id: TRANSACTION_ID, attempt: 1 }]);
  expect(state.attempts[1]?.answer).toMatchObject({ ...decided, attempt: 2 });
  expect(order.outbox.map(({ type, data }) => [type, data.decision, data.attempt])).toEqual([
    ['order.decided', 'fail', 1],
    ['order.decided', 'skipped', 2],
  ]);
  expect(underWay.filter((key) => !key.startsWith('deliver'))).toEqual([]);
});

it('a catch-up is told that the skip rules were not read only where the checkout failed before', () => {
  const maySkip = (life: Life) => life.calls('catch-up').map(({ request }) => request.mayBeSkipped);
  const broken = retrying()
    .break('retry-screening')
    .until(MINUTE + 10_000);
  expect(maySkip(broken)).toEqual([true]);
  broken.caughtUp(SKIPPED, 2 * MINUTE);
  expect(broken.state).toMatchObject({ phase: 'closed', decision: 'skipped', action: 'proceed' });
  expect(broken.state).not.toHaveProperty('reason');

  expect(maySkip(retrying().retried(unanswered(), MINUTE))).toEqual([undefined]);
  const again = retrying()
    .break('retry-screening')
    .until(MINUTE + 10_000);
  again.caughtUp(answered('error', 'second'), 2 * MINUTE).until(4 * MINUTE);
  expect(maySkip(again)).toEqual([true, undefined]);
});

it('an attempt that breaks a rule of ours is not blamed on the screening service', () => {
  const words = 'payment.creditCard is required';
  const { state } = retrying().retried({ kind: 'refused', reason: 'invalid-request', words }, MINUTE);
  expect(state.attention).toMatchObject([
    { code: 'no-decision', words: `The transaction is invalid and was not sent: ${words}.` },
  ]);
});
