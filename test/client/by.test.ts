/** Who asks: what the client library sends of it. */
import { describe, expect, it } from 'vitest';
import type { OrderScreening, PortalOptions } from '../../src/starter.ts';
import { aPortalAnswer } from '../api/fake-order-screening.ts';
import { anOrderState, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aClient, aClosed, described, startedActions } from './fake-temporal.ts';

const order = { orderId: 'order-1' };
const by = { key: 'ops', actor: 'ada' };

type Send = (orders: OrderScreening, how: PortalOptions) => Promise<unknown>;
const ACTIONS: [string, Send][] = [
  ['cancel', (orders, how) => orders.cancel(order, { reason: 'x' }, how)],
  ['report-fraud', (orders, how) => orders.reportFraud(order, {}, how)],
  [
    'chargeback',
    (orders, how) => orders.submitChargeback(order, { reason_code: '1', due_date: '2026-04-01' }, how),
  ],
  ['customer-code', (orders, how) => orders.attachCustomerCode(order, { customerCode: '1' }, how)],
  ['withdraw', (orders, how) => orders.withdraw(order, { number: 1 }, how)],
  ['override', (orders, how) => orders.override(order, { action: 'proceed', reason: 'x' }, how)],
  ['acknowledge', (orders, how) => orders.acknowledge(order, { reason: 'x' }, how)],
  [
    'adopt',
    (orders, how) =>
      orders.adopt(
        {
          ...order,
          transactionId: CLOSED_TRANSACTION,
          screenedAt: new Date(Date.now() - 1_000).toISOString(),
        },
        how,
      ),
  ],
];

/** Sends to an open order. @returns the message that Temporal was given */
async function sent(send: Send, how: PortalOptions): Promise<unknown> {
  const { orderScreening, temporal } = aClient();
  temporal.startUpdate.mockResolvedValue({ result: async () => aPortalAnswer() });
  temporal.executeUpdate.mockResolvedValue({});
  temporal.executeUpdateWithStart.mockResolvedValue({});
  await send(orderScreening, how);
  const calls = [temporal.startUpdate, temporal.executeUpdate, temporal.executeUpdateWithStart].flatMap(
    ({ mock }) => mock.calls as unknown as [unknown, { args: unknown[] }][],
  );
  expect(calls).toHaveLength(1);
  return calls[0]?.[1].args[0];
}

describe('who asks', () => {
  it.each(ACTIONS)(
    'goes with the message %s, and nothing of it where nobody is named',
    async (_name, send) => {
      expect(await sent(send, { by })).toHaveProperty('by', by);
      expect(await sent(send, { by: { actor: 'ada', key: undefined } })).toHaveProperty('by', {
        actor: 'ada',
      });
      expect(await sent(send, {})).not.toHaveProperty('by');
      expect(await sent(send, { by: {} })).not.toHaveProperty('by');
    },
  );

  it.each(ACTIONS)('must be a name, for %s, else nothing is sent', async (_name, send) => {
    for (const actor of ['', 'x'.repeat(101), 'ada\nbo', '4111 1111 1111 1111']) {
      const { orderScreening, temporal } = aClient();
      await expect(send(orderScreening, { by: { actor } })).rejects.toMatchObject({
        code: actor.startsWith('4111') ? 'card-data-in-request' : 'invalid-request',
        details: { errors: [{ path: 'by.actor' }] },
      });
      expect(temporal.startUpdate).not.toHaveBeenCalled();
      expect(temporal.executeUpdate).not.toHaveBeenCalled();
      expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
    }
  });

  it.each(ACTIONS.filter(([name]) => name !== 'adopt'))(
    'and its idempotency key of at most 128 characters, for %s, else nothing is sent',
    async (_name, send) => {
      for (const idempotencyKey of ['x'.repeat(5_000), 'ä', '']) {
        const { orderScreening, temporal } = aClient();
        await expect(send(orderScreening, { idempotencyKey })).rejects.toMatchObject({
          code: 'invalid-request',
          details: { errors: [{ path: 'idempotencyKey' }] },
        });
        expect(temporal.startUpdate).not.toHaveBeenCalled();
        expect(temporal.executeUpdate).not.toHaveBeenCalled();
      }
    },
  );

  it('stands in the input of what a closed order starts: its portal actions', async () => {
    const client = aClosed();
    await client.orderScreening.reportFraud(order, {}, { by });
    expect(startedActions(client)).toMatchObject([{ input: { fields: { kind: 'report-fraud' }, by } }]);
    expect(startedActions(client)[0]?.input.fields).not.toHaveProperty('by');
  });

  it('stands in the input of a redelivery, beside the event, which is as it was', async () => {
    const event = {
      sequence: 1,
      type: 'order.decided',
      occurredAt: '2026-03-01T10:00:00.000Z',
      data: { phase: 'decided', decision: 'pass', action: 'proceed', attempt: 1, attention: [] },
    } as const;
    const redeliver = async (how: Pick<PortalOptions, 'by'>) => {
      const { orderScreening, temporal } = aClient();
      temporal.describe.mockResolvedValue(described('COMPLETED'));
      temporal.result.mockResolvedValue(
        anOrderState({
          events: {
            sequence: 1,
            delivered: 1,
            waiting: 0,
            last: [{ ...event, data: { ...event.data, attention: [] } }],
          },
        }),
      );
      temporal.start.mockResolvedValue({ result: async () => undefined });
      await orderScreening.redeliver(order, { sequence: 1 }, how);
      const [[, { args }]] = temporal.start.mock.calls as unknown as [[string, { args: unknown[] }]];
      return args;
    };
    const [told, whoAsked] = await redeliver({ by });
    expect(whoAsked).toEqual(by);
    expect(JSON.stringify(told)).not.toContain('ada');
    expect(await redeliver({})).toEqual([told]);
  });
});
