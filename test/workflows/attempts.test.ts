import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../src/orders/activity-contract.ts';
import { cancelUpdate, recordGatewayResultUpdate, retryUpdate } from '../../src/orders/messages.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { again, answered, aPolicy, DAY, HOUR, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const transaction = { ...aTransaction() };
const unanswered: ScreeningOutcome = { kind: 'unanswered', reason: 'timeout', maybeSent: true };

describe('another attempt', () => {
  it('of a declined order is screened, answered and decided like the first', async () => {
    const { handle, world, pass, state } = await order((world) => {
      world.screenings = [answered('fail'), answered('pass', { transactionId: 'second' })];
    });
    const first = await state();
    await pass(30 * MINUTE);
    const request = { attempt: 2, transaction, fingerprint: 'f-2' };
    const answer = await handle.executeUpdate(retryUpdate, { args: [request], updateId: 'retry-2' });
    expect(answer).toMatchObject({
      attempt: 2,
      decision: 'pass',
      action: 'proceed',
      phase: 'decided',
      transactionId: 'second',
    });
    expect(await handle.executeUpdate(retryUpdate, { args: [request] })).toEqual(answer);
    expect(world.screened.map((one) => one.knownTransactionIds)).toEqual([
      [],
      [first.attempts[0]?.transactionId],
    ]);
    const ended = await handle.result();
    expect(ended).toMatchObject({ phase: 'closed', decision: 'pass' });
    const [one, two] = ended.attempts;
    const apart = Date.parse(two?.cancelBy ?? '') - Date.parse(one?.cancelBy ?? '');
    expect(apart).toBeGreaterThanOrEqual(30 * MINUTE);
    expect(world.eventTypes()).toEqual(['order.decided', 'order.decided', 'order.closed']);
  });

  it('is refused out of turn, with another content, or after the end', async () => {
    const { handle, pass } = await order((world) => {
      world.screenings = [answered('fail'), answered('fail'), answered('pass')];
    });
    const refused = (attempt: number, fingerprint?: string) =>
      handle
        .executeUpdate(retryUpdate, { args: [{ attempt, transaction, ...(fingerprint && { fingerprint }) }] })
        .then(
          () => 'taken',
          (error) => error.cause?.type,
        );
    expect(await refused(3)).toBe('retry-out-of-turn');
    expect(await refused(2, 'f-2')).toBe('taken');
    expect(await refused(2, 'another')).toBe('attempt-mismatch');
    expect(await refused(3)).toBe('taken');
    expect(await refused(4)).toBe('retry-out-of-turn');
    await pass(MINUTE);
    await expect(
      handle.executeUpdate(retryUpdate, { args: [{ attempt: 4, transaction: { cardCode: '123' } }] }),
    ).rejects.toMatchObject({ cause: { type: 'card-data-in-request' } });
  });

  it('of an order whose decision is error to the end clears what was the matter', async () => {
    const { handle, state } = await order((world) => {
      world.screenings = [{ kind: 'refused', reason: 'card-data-expired' }, answered('pass')];
    });
    expect(await state()).toMatchObject({
      attention: [{ code: 'no-decision' }],
      reason: 'card-data-expired',
    });
    await handle.executeUpdate(retryUpdate, { args: [{ attempt: 2, transaction }] });
    const now = await state();
    expect(now).toMatchObject({ attention: [], decision: 'pass' });
    expect(now.reason).toBeUndefined();
  });

  it('without an answer goes on by itself', async () => {
    const { handle, world } = await order((world) => {
      world.screenings = [answered('fail'), unanswered, answered('pass')];
    });
    const answer = await handle.executeUpdate(retryUpdate, { args: [{ attempt: 2, transaction }] });
    expect(answer).toMatchObject({ attempt: 2, decision: 'pending', action: 'hold' });
    expect(await handle.result()).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(world.screened).toHaveLength(3);
  });

  it('each has a gateway result of its own, and one must be named', async () => {
    const { handle, world, until } = await order((world) => {
      world.policy = aPolicy({ workflow: 'pre-gateway' });
      world.screenings = [answered('pass'), answered('pass')];
    });
    const report = (attempt: number | undefined, result: 'pass' | 'fail') =>
      handle.executeUpdate(recordGatewayResultUpdate, { args: [{ result, ...(attempt && { attempt }) }] });
    expect(await report(undefined, 'fail')).toMatchObject({ phase: 'declined', attempt: 1 });
    await handle.executeUpdate(retryUpdate, { args: [{ attempt: 2, transaction }] });
    await expect(report(undefined, 'pass')).rejects.toMatchObject({ cause: { type: 'attempt-required' } });
    expect(await report(2, 'pass')).toMatchObject({ phase: 'decided', attempt: 2 });
    expect(await report(1, 'fail')).toMatchObject({ attempt: 1, result: 'fail' });
    await until((state) => state.attempts.every((one) => one.gateway?.sent !== undefined));
    expect(world.gatewayCalls.map((call) => call.result)).toEqual(['fail', 'pass']);
  });

  it('leaves the earlier one’s transaction to be canceled by name, which ends nothing', async () => {
    const { answer, handle, world, state } = await order((world) => {
      world.screenings = [answered('fail'), answered('pass')];
    });
    await handle.executeUpdate(retryUpdate, { args: [{ attempt: 2, transaction }] });
    const first = answer.transactionId ?? '';
    await handle.executeUpdate(cancelUpdate, { args: [{ transactionId: first }] });
    expect(world.portalCalls).toMatchObject([{ transactionId: first, notAfter: expect.any(String) }]);
    expect(await state()).toMatchObject({ phase: 'decided', action: 'proceed', cancelAsked: false });
  });

  it('that is still being screened keeps no earlier one’s transaction from being canceled', async () => {
    const { answer, handle, world, state } = await order((world) => {
      world.screenings = [answered('fail'), unanswered];
      world.catchUp = async () => {
        throw again(HOUR);
      };
    });
    await handle.executeUpdate(retryUpdate, { args: [{ attempt: 2, transaction }] });
    const first = answer.transactionId ?? '';
    const canceled = await handle.executeUpdate(cancelUpdate, { args: [{ transactionId: first }] });
    expect(canceled).toMatchObject({ status: 'done', transactionId: first, phase: 'screening' });
    expect(world.portalCalls).toMatchObject([{ transactionId: first }]);
    expect(world.lookUps).toBe(0);
    expect(await state()).toMatchObject({ phase: 'screening', decision: 'pending', cancelAsked: false });
    await handle.executeUpdate(cancelUpdate, { args: [{}] });
  });

  it('that never comes: closed after an hour, and nothing is canceled', async () => {
    const { handle, world, pass, until } = await order((world) => {
      world.screenings = [answered('fail')];
    });
    await pass(HOUR + MINUTE);
    await until((state) => state.phase === 'closed');
    await handle.result();
    await pass(DAY);
    expect(world.portalCalls).toEqual([]);
  });
});
