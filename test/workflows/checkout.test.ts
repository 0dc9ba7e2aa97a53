import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import { decisionUpdate, decisionUpdateId, retryUpdate } from '../../src/contract/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { answered, aPolicy, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const STACK_FRAME = /^\s*at /m;
const unanswered: ScreeningOutcome = {
  kind: 'unanswered',
  reason: 'timeout',
  unseenSince: '2026-03-01T10:00:00.000Z',
};

describe('a checkout', () => {
  it.each([
    ['pass', 'pre-acceptance', 'proceed', 'decided', ['order.decided', 'order.closed']],
    ['fail', 'post-acceptance', 'cancel', 'decided', ['order.decided', 'order.canceled', 'order.closed']],
    [
      'pass',
      'pre-gateway',
      'proceed',
      'awaiting-gateway',
      ['order.decided', 'order.attention', 'order.closed'],
    ],
  ] as const)(
    'that reads %s in %s is answered %s, phase %s, and lives to its end',
    async (decision, workflow, action, phase, events) => {
      const { answer, handle, world } = await order((world) => {
        world.policy = aPolicy({ workflow, events: 'all' });
        world.screenings = [answered(decision)];
        world.status = { kind: 'read', decision };
      });
      expect(answer).toMatchObject({ attempt: 1, decision, action, phase });
      const ended = await handle.result();
      expect(ended).toMatchObject({ decision, endedAt: expect.any(String) });
      expect(world.eventTypes()).toEqual(events);
      expect(world.events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
      expect(world.screened).toHaveLength(1);
      expect(world.portalCalls).toHaveLength(decision !== 'pass' && workflow === 'post-acceptance' ? 1 : 0);
    },
  );

  it('without an answer goes on by itself, and the decision arrives as an event', async () => {
    for (const whenUnavailable of ['hold', 'proceed'] as const) {
      const { answer, handle, world } = await order((world) => {
        world.policy = aPolicy({ whenUnavailable });
        world.screenings = [unanswered, unanswered, unanswered, answered('pass')];
      });
      expect(answer).toMatchObject({
        decision: 'pending',
        action: whenUnavailable,
        phase: 'screening',
        reason: 'timeout',
      });
      expect(await handle.result()).toMatchObject({ phase: 'closed', decision: 'pass', action: 'proceed' });
      expect(world.eventTypes()).toEqual(['order.decided', 'order.closed']);
      expect(world.screened.map((request) => request.unseenSince !== undefined)).toEqual([
        false,
        true,
        true,
        true,
      ]);
    }
  });

  it('told pending gets the decision by another update id, and by the id of the first time what was told then', async () => {
    const { handle, until } = await order((world) => {
      world.screenings = [unanswered, answered('pass')];
    });
    await until((state) => state.decision === 'pass');
    const asked = (updateId: string) =>
      handle.executeUpdate(decisionUpdate, { args: [{ attempt: 1 }], updateId });
    expect(await asked('again')).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'decided' });
    expect(await asked(decisionUpdateId(1))).toMatchObject({ decision: 'pending', action: 'hold' });
  });

  it('whose screening broke down is pending by policy, and screened later', async () => {
    const { answer, handle } = await order((world) => {
      world.screenAtCheckout = async () => {
        throw new Error('out of memory');
      };
    });
    expect(answer).toMatchObject({ decision: 'pending', action: 'hold', reason: 'screening-broke-down' });
    expect(await handle.result()).toMatchObject({ decision: 'pass' });
  });

  it('has its card forgotten once a decision is recorded', async () => {
    const { integration, handle, world } = await order(undefined, (integration) => ({
      cardRef: integration,
    }));
    await handle.result();
    expect(world.forgotten).toEqual([integration]);
  });

  it('gives the same answer again, also to another update id', async () => {
    const { answer, handle, world } = await order();
    expect(await handle.executeUpdate(decisionUpdate, { args: [{ attempt: 1 }] })).toEqual(answer);
    expect(world.screened).toHaveLength(1);
    await expect(handle.executeUpdate(decisionUpdate, { args: [{ attempt: 2 }] })).rejects.toMatchObject({
      cause: { type: 'unknown-attempt' },
    });
  });
});

describe('a start', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'with card data',
      { transaction: { payment: { creditCard: { cardNumber: '4111111111111111' } } } },
      'card-data-in-request',
    ],
    ['under another order’s id', { orderId: 'another' }, 'invalid-request'],
    ['without a transaction', { transaction: 'none' }, 'invalid-request'],
    ['that pretends to continue', { resume: {} }, 'invalid-request'],
  ])('%s fails at once, and nothing is screened', async (_case, input, code) => {
    const { handle, world } = await order.startOnly(input);
    const failed: { cause?: { type?: string; message?: string } } = await handle.result().then(
      () => ({}),
      (error: { cause?: object }) => error,
    );
    expect(failed.cause?.type).toBe(code);
    expect(failed.cause?.message).not.toContain('4111');
    expect(world.screened).toEqual([]);
  });

  it('that fails says which field is wrong, and has no stack', async () => {
    const { handle } = await order.startOnly({ transaction: 'none' });
    await expect(handle.result()).rejects.toMatchObject({
      cause: {
        message: 'Invalid request: transaction is missing, or of the wrong type or length.',
        details: [
          { errors: [{ path: 'transaction', message: 'is missing, or of the wrong type or length' }] },
        ],
        failure: { stackTrace: expect.not.stringMatching(STACK_FRAME) },
      },
    });
  });
});

it('an order keeps no stacks of what it waits for', async () => {
  const { handle } = await order();
  expect(await handle.query('__stack_trace')).not.toMatch(STACK_FRAME);
});

describe('another attempt', () => {
  it('of a declined order is screened, answered and decided like the first', async () => {
    const { handle, world, pass, state } = await order((world) => {
      world.policy = aPolicy({ events: 'all' });
      world.screenings = [answered('fail'), answered('pass', { transactionId: 'second' })];
    });
    const first = await state();
    await pass(30 * MINUTE);
    const request = { attempt: 2, transaction: { ...aTransaction() }, fingerprint: 'f-2' };
    const answer = await handle.executeUpdate(retryUpdate, { args: [request], updateId: 'retry-2' });
    expect(answer).toMatchObject({
      attempt: 2,
      decision: 'pass',
      action: 'proceed',
      phase: 'decided',
      transactionId: 'second',
    });
    expect(await handle.executeUpdate(retryUpdate, { args: [request] })).toEqual(answer);
    expect(world.screened.map((one) => one.knownTransactionIds)).toEqual([[], [first.transactions[0]?.id]]);
    const ended = await handle.result();
    expect(ended).toMatchObject({ phase: 'closed', decision: 'pass' });
    const [one, two] = ended.transactions;
    const apart = Date.parse(two?.cancelBy ?? '') - Date.parse(one?.cancelBy ?? '');
    expect(apart).toBeGreaterThanOrEqual(30 * MINUTE);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.decided', 'order.closed']);
  });
});
