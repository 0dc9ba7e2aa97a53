/** A person decides in place of the service, over HTTP. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const server = withTestServer();
let all: Deployment;

beforeAll(async () => {
  all = await deploy(server.address, { default: { poll: { first: '30s', factor: 1, max: '30s' } } });
});
afterAll(() => all?.stop());

async function screened(email: string): Promise<string> {
  const orderId = anOrderId();
  await all.call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email) });
  return orderId;
}

const decide = (orderId: string, action: string, reason = 'the customer showed the card') =>
  all.call('POST', `/v1/orders/${orderId}/override`, { action, reason });

const cancels = (invoice: string) => all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice });

it('to proceed is told to the order service, and what the service says later needs attention', async () => {
  const orderId = await screened('review@example.com');
  expect(await decide(orderId, 'proceed')).toMatchObject({
    status: 200,
    body: { orderId, attempt: 1, decision: 'review', action: 'proceed', phase: 'review' },
  });
  all.sandbox.control.decide(orderId, 'fraudulent');
  const order = await all.until(orderId, ({ decision }) => decision === 'fraudulent');
  expect(order).toMatchObject({
    action: 'proceed',
    phase: 'decided',
    attempts: [{ override: { action: 'proceed', reason: 'the customer showed the card', by: 'person' } }],
    attention: [{ code: 'decision-after-override' }],
    actions: [],
  });
  await eventually(() => {
    const told = all.events.filter((event) => event.orderId === orderId);
    expect(told.map(({ type, data }) => [type, data.action])).toEqual([
      ['order.decided', 'hold'],
      ['order.decision_changed', 'proceed'],
      ['order.review_resolved', 'proceed'],
      ['order.attention', 'proceed'],
    ]);
    expect(told[1]?.data).toMatchObject({ by: 'person', decision: 'review' });
  });
  expect(cancels(orderId)).toEqual([]);
});

it('to cancel has the service asked; then nothing is left to decide', async () => {
  const orderId = await screened('pass@example.com');
  expect(await decide(orderId, 'cancel')).toMatchObject({
    status: 200,
    body: { decision: 'pass', action: 'cancel', number: 1 },
  });
  await all.until(orderId, ({ phase }) => phase === 'canceled');
  expect(cancels(orderId)).toHaveLength(1);
  const late = await decide(orderId, 'proceed');
  expect(late).toMatchObject({ status: 409, body: { type: '/problems/order-closed' } });
});

it('with a card number for a reason is refused, and changes nothing', async () => {
  const orderId = await screened('review@example.com');
  const { status, body } = await decide(orderId, 'proceed', `paid by ${TEST_CARD.cardNumber}`);
  expect([status, body.errors]).toEqual([
    422,
    [{ path: 'reason', message: 'must not hold card data or a key' }],
  ]);
  const { body: order } = await all.call('GET', `/v1/orders/${orderId}`);
  expect(order).toMatchObject({ action: 'hold' });
  expect(order.attempts[0]).not.toHaveProperty('override');
});
