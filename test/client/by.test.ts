/** Who asks: what the client library sends of it. */
import { describe, expect, it } from 'vitest';
import type { OrderScreening, PortalOptions } from '../../src/starter.ts';
import { CLOSED_TRANSACTION, fromNow } from '../fixtures/orders.ts';
import { aPortalAnswer } from '../server/api/fake-order-screening.ts';
import { aClient, faultsAt, sent, taken } from './fake-temporal.ts';

const order = { orderId: 'order-1' };
const by = { key: 'ops', actor: 'ada' };
const chargeback = { reason_code: '1', due_date: '2026-04-01' };
const override = { action: 'proceed', reason: 'x' } as const;
const adoption = { ...order, transactionId: CLOSED_TRANSACTION, screenedAt: fromNow(-1_000) };

type Send = (orders: OrderScreening, how: PortalOptions) => Promise<unknown>;
const ACTIONS: [string, Send][] = [
  ['cancel', (orders, how) => orders.cancel(order, { reason: 'x' }, how)],
  ['reportFraud', (orders, how) => orders.reportFraud(order, {}, how)],
  ['submitChargeback', (orders, how) => orders.submitChargeback(order, chargeback, how)],
  ['attachCustomerCode', (orders, how) => orders.attachCustomerCode(order, { customerCode: '1' }, how)],
  ['withdraw', (orders, how) => orders.withdraw(order, { number: 1 }, how)],
  ['override', (orders, how) => orders.override(order, override, how)],
  ['acknowledge', (orders, how) => orders.acknowledge(order, { reason: 'x' }, how)],
  ['note', (orders, how) => orders.note(order, { text: 'x' }, how)],
  ['assign', (orders, how) => orders.assign(order, { assignee: null }, how)],
  ['snooze', (orders, how) => orders.snooze(order, { until: '2030-01-31T12:00:00Z', note: 'x' }, how)],
  ['adopt', (orders, how) => orders.adopt(adoption, how)],
];

/** An open order that takes every message. @returns the messages that Temporal was given */
function anOpenOrder() {
  const { orderScreening, temporal } = aClient();
  temporal.startUpdate.mockResolvedValue(taken(aPortalAnswer()));
  temporal.executeUpdate.mockResolvedValue({});
  temporal.executeUpdateWithStart.mockResolvedValue({});
  const { startUpdate, executeUpdate, executeUpdateWithStart } = temporal;
  const updates = () => [startUpdate, executeUpdate, executeUpdateWithStart].flatMap(sent);
  const messages = () => updates().map(({ args }) => args[0]);
  return { orderScreening, updates, messages };
}

describe.each(ACTIONS)('who asks for %s', (name, send) => {
  it('goes with the update of that name, and nothing of it where nobody is named', async () => {
    const { orderScreening, updates, messages } = anOpenOrder();
    await send(orderScreening, { by });
    expect(updates()).toMatchObject([{ name, type: name }]);
    await send(orderScreening, { by: { actor: 'ada', key: undefined } });
    await send(orderScreening, {});
    await send(orderScreening, { by: {} });
    const [both, one, ...none] = messages();
    expect([both, one]).toMatchObject([{ by }, { by: { actor: 'ada' } }]);
    for (const message of none) expect(message).not.toHaveProperty('by');
    expect(none).toHaveLength(2);
  });

  it('must be a name, the idempotency key visible and short, and nothing else is given, or nothing is sent', async () => {
    const misspelled: object = { idempotencykey: 'k' };
    const names = ['', 'x'.repeat(101), 'ada\nbo'];
    const keys = name === 'adopt' ? [] : ['x'.repeat(129), 'ä', ''];
    for (const [path, how] of [
      ['idempotencykey', misspelled] as const,
      ...names.map((actor) => ['by.actor', { by: { actor } }] as const),
      ...keys.map((idempotencyKey) => ['idempotencyKey', { idempotencyKey }] as const),
    ]) {
      const { orderScreening, messages } = anOpenOrder();
      await expect(send(orderScreening, how)).rejects.toMatchObject(faultsAt(path));
      expect(messages()).toEqual([]);
    }
  });
});
