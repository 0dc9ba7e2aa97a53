/** What a checkout returns when it fails: a refusal of the order, or an outcome with the policy. */
import { describe, expect, it } from 'vitest';
import { MACHINE, type Machine } from '../../../src/screening-service/index.ts';
import { aTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import {
  AFTER_RESET,
  aCatchUp,
  aCheckout,
  aWorld,
  checkOut,
  expectNoSecret,
  failureOf,
  fromNow,
  perform,
  refusalOf,
  requests,
  sandbox,
  TASK_LOST,
  UNKNOWN_ID,
  UNSEEN_SINCE,
  withSandbox,
} from '../support.ts';

withSandbox();

const BY_AMOUNT = [{ amountBelow: 200, action: 'proceed' } as const];

describe('an order that can’t be screened', () => {
  it('is refused with every fault of its transaction, its path and no value', async () => {
    const { billTo: _billTo, ...rest } = aTransaction();
    const transaction = {
      ...rest,
      amount: 'plenty',
      customer: { email: 'canary-who@example.com@', id: 7 },
      order: { order_type: 'canary-type' },
      card: TEST_CARD.cardNumber,
    };
    const refusal = await refusalOf(aWorld(), aCheckout('pass', { transaction }));
    const paths = ['amount', 'billTo', 'customer.email', 'customer.id', 'order.order_type'];
    expect(refusal).toMatchObject({
      code: 'invalid-request',
      message: expect.stringContaining('transaction.amount'),
    });
    expect(refusal.errors?.map(({ path }) => path).sort()).toEqual(
      paths.map((path) => `transaction.${path}`),
    );
    expect(requests('create-transaction')).toBe(0);
  });

  it('is refused with few enough faults for history', async () => {
    const transaction = { ...aTransaction(), lineItems: Array(20_000).fill({ sku: 1 }) };
    const refusal = await refusalOf(aWorld(), aCheckout('pass', { transaction }));
    expect(refusal.message).toContain('lineItems[99]');
    expect(refusal.message).not.toContain('lineItems[100]');
    expect(JSON.stringify(refusal).length).toBeLessThan(100_000);
  });

  it('is refused for an integration that is not configured', async () => {
    const refusal = await refusalOf(aWorld(), aCheckout('pass', { integration: 'elsewhere' }));
    expect(refusal).toMatchObject({ code: 'unknown-integration' });
  });
});

describe('a checkout without an API key', () => {
  const world = () => aWorld({ apiKey: () => undefined, whenUnavailable: BY_AMOUNT });

  it('is unanswered, with the policy in force, and has sent no create; a lost task may have', async () => {
    const request = aCheckout();
    const { outcome, policy } = await checkOut(world(), request);
    const unanswered = { kind: 'unanswered', reason: 'no-api-key' };
    expect(outcome).toEqual(unanswered);
    expect(policy).toMatchObject({ workflow: 'pre-acceptance', whenUnavailable: 'proceed' });
    const again = await checkOut(world(), request, TASK_LOST);
    expect(again.outcome).toEqual({ ...unanswered, unseenSince: request.startedAt });
  });

  it('fails where it adopts a transaction, so that the caller can send it again', async () => {
    const adopt = { transactionId: UNKNOWN_ID, screenedAt: fromNow(-1_000) };
    const call = checkOut(world(), aCheckout('pass', { transaction: {}, adopt }));
    expect(await failureOf(call)).toMatchObject({ type: 'no-api-key' });
  });
});

/** Fails in the worker's own code as soon as the screening service has answered. */
function failingAfterCreate() {
  let hasAnswered = false;
  const fetch: Machine['fetch'] = async (url, request) => {
    const response = await MACHINE.fetch(url, request);
    hasAnswered = true;
    return response;
  };
  const elapsed = () => {
    if (!hasAnswered) return MACHINE.elapsed();
    hasAnswered = false;
    throw new TypeError('canary http://127.0.0.1');
  };
  return aWorld({}, { machine: { ...MACHINE, fetch, elapsed } });
}

describe('a checkout whose own code fails', () => {
  it.each([
    ['before its create', () => aWorld({ baseUrl: 'no address' }), 0],
    ['after its create', failingAfterCreate, 1],
  ] as const)('%s is unanswered, with the policy, and may have sent one', async (_when, world, creates) => {
    const request = aCheckout('review');
    const unseenSince = request.startedAt;
    const { outcome, policy } = await checkOut(world(), request);
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'unexpected', unseenSince });
    expect(policy).toMatchObject({ whenUnavailable: 'hold' });
    expectNoSecret(outcome);
    expect(requests('create-transaction')).toBe(creates);
  });
});

it('the next attempt’s checkout returns the action without a decision by its own amount', async () => {
  const whenUnavailable = [...BY_AMOUNT, { action: 'decline' } as const];
  const { screenRetry } = aWorld({ whenUnavailable }).checkout;
  const request = aCatchUp();
  const costly = { ...request, transaction: { ...request.transaction, amount: '5000.00' } };
  expect(await perform(screenRetry, request)).toMatchObject({ whenUnavailable: 'proceed' });
  expect(await perform(screenRetry, costly)).toMatchObject({ whenUnavailable: 'decline' });
});

it('so does one that can’t begin without an API key: it sends no create, but an earlier one may have', async () => {
  const { screenRetry } = aWorld({ apiKey: () => undefined, whenUnavailable: BY_AMOUNT }).checkout;
  const reason = 'no-api-key';
  expect(await perform(screenRetry, aCatchUp())).toMatchObject({
    outcome: { kind: 'unanswered', reason },
    whenUnavailable: 'proceed',
  });
  const again = await perform(screenRetry, aCatchUp(), { attempt: 2, calledMs: Date.parse(UNSEEN_SINCE) });
  expect(again.outcome).toEqual({ kind: 'unanswered', reason, unseenSince: UNSEEN_SINCE });
  const { outcome } = await perform(screenRetry, aCatchUp(), AFTER_RESET);
  expect(outcome).toMatchObject({ kind: 'unanswered', reason: 'order-reset' });
});

it('the policy that a checkout could not read is in the catch-up’s result at once, without a request, and in no other one', async () => {
  const { catchUp } = aWorld({ whenUnavailable: BY_AMOUNT }).background;
  const missing = { policyMissing: true, unseenSince: UNSEEN_SINCE } as const;
  expect(await perform(catchUp, aCatchUp('review', missing))).toMatchObject({
    outcome: { kind: 'unanswered', unseenSince: UNSEEN_SINCE },
    policy: { workflow: 'pre-acceptance', whenUnavailable: 'proceed' },
  });
  expect(sandbox.control.ledger()).toEqual([]);
  expect(await perform(catchUp, aCatchUp('review'))).not.toHaveProperty('policy');
});
