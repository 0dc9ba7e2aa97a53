import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { aClosedOrder, aPolicy, CLOSED_TRANSACTION } from '../../fixtures/orders.ts';
import { aClient, described, gone, noAnswer, taken } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
type Client = ReturnType<typeof aClient>;
type Orders = Client['orderScreening'];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const slowly = async <Answer>(answer: Answer): Promise<Answer> => {
  await after(4_000);
  if (answer instanceof Error) throw answer;
  return answer;
};

/** A client of an ended order, of a Temporal that takes 4 s for each answer. */
function slowClosed(): Client {
  const client = aClient();
  const { temporal } = client;
  for (const sent of [temporal.executeUpdate, temporal.startUpdate, temporal.start])
    sent.mockImplementation(() => slowly(gone));
  temporal.describe.mockImplementation(() => slowly(described('COMPLETED')));
  const workflow = 'pre-gateway';
  const closed = aClosedOrder(
    {},
    { workflow, policy: aPolicy({ workflow }), endedAt: '2026-03-06T10:00:00.000Z' },
  );
  temporal.result.mockImplementation(() => slowly(closed));
  return client;
}

it.each<[string, (orders: Orders) => Promise<unknown>]>([
  ['a gateway’s result', (orders) => orders.recordGatewayResult(order, { result: 'pass' })],
  ['a portal action', (orders) => orders.reportFraud(order)],
  ['a withdrawal', (orders) => orders.withdraw(order, { number: 1 })],
  ['a note', (orders) => orders.note(order, { text: 'seen' })],
  ['an acknowledgement', (orders) => orders.acknowledge(order, { reason: 'seen' })],
])('%s is answered within 10 s, whatever it asks for after the end of its order', async (_what, send) => {
  const ended = vi.fn();
  void send(slowClosed().orderScreening).then(ended, ended);
  await vi.advanceTimersByTimeAsync(10_200);
  expect(ended).toHaveBeenCalled();
});

it('a withdrawal that goes on is answered within 10 s, though the record takes a while', async () => {
  const { orderScreening, temporal } = aClient();
  temporal.startUpdate.mockResolvedValue({ result: () => after(9_900).then(() => taken(noAnswer).result()) });
  temporal.describe.mockImplementation(() => slowly(described('RUNNING')));
  const action = { number: 1, kind: 'cancel', transactionId: CLOSED_TRANSACTION } as const;
  const running = { ...action, subject: 'cancel:1', by: 'caller', status: 'running' } as const;
  const actions = [{ ...running, requestedAt: '2026-03-01T10:00:00.000Z' }];
  temporal.record.mockResolvedValue(aClosedOrder({}, { phase: 'decided', actions }));
  const answers: unknown[] = [];
  void orderScreening.withdraw(order, { number: 1 }).then((answer) => answers.push(answer));
  await vi.advanceTimersByTimeAsync(10_200);
  expect(answers).toEqual([{ ...action, ...order, integration: 'default', status: 'requested' }]);
});
