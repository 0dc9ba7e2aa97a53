/** What comes after an order's end, in a whole deployment. The last test stops the worker. */
import { expect, it } from 'vitest';
import { numberBeforeEvents } from '../../../src/order/record.ts';
import { createDataConverter } from '../../../src/starter.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { describeRaw, untilEnded } from '../operator.ts';
import { anOrderId, aPayloadKey, WEBHOOK_SECRET, withDeployment } from '../support.ts';

const { payloadKey, env } = aPayloadKey();
const soonClosed = { cancelWindow: '2s', recheckLeadTime: '0s', reviewLeadTime: '200ms' };
const server = withTestServer({ dataConverter: createDataConverter([payloadKey]) });
const all = withDeployment(
  server,
  { default: soonClosed, verbose: { ...soonClosed, events: 'all' } },
  { env },
);

async function webhook(body: object): Promise<unknown> {
  const address = `${all.apiUrl}/v1/webhooks/default/${WEBHOOK_SECRET}`;
  return (await fetch(address, { method: 'POST', body: JSON.stringify(body) })).json();
}

/** An order that passed and has ended, all its events delivered. @returns the id of its transaction */
async function closedOrder(orderId: string, integration = 'default'): Promise<string> {
  const { body } = await all.screen(orderId, 'pass', { integration });
  expect(body).toMatchObject({ decision: 'pass' });
  await untilEnded(server.client, `order:${integration}:${orderId}`);
  return body.transactionId;
}

it('a later decision is read at its webhook, sent as the first event of an order that passed and shown with the order', async () => {
  const orderId = anOrderId();
  const transactionId = await closedOrder(orderId);
  expect(await all.read(orderId)).not.toHaveProperty('afterEnd');
  // The sandbox sends the webhook.
  all.sandbox.control.decide(orderId, 'fail');
  const before = numberBeforeEvents(await all.read(orderId));
  const eventArrives = (data: object, number: number) =>
    eventually(
      () => expect(all.eventsOf(orderId)[number - 1]).toMatchObject({ sequence: before + number, data }),
      { timeoutMs: 20_000 },
    );
  await eventArrives(
    { phase: 'closed', decision: 'fail', action: 'cancel', transactionId, afterClose: true },
    1,
  );
  const first = { decision: 'fail', action: 'cancel', event: { sequence: before + 1, status: 'delivered' } };
  await eventually(async () =>
    expect((await all.read(orderId)).afterEnd).toMatchObject({ decisions: [first], actions: [] }),
  );
  const stored = await describeRaw(server.client, `after:default:${orderId}`);
  const { lateDecisions } = stored.workflowExecutionInfo?.memo?.fields ?? {};
  expect(Buffer.from(lateDecisions?.metadata?.encoding ?? []).toString()).toBe('binary/encrypted');

  const recheck = await all.call('POST', `/v1/orders/${orderId}/recheck`, {});
  expect(recheck.body).toEqual({ status: 'requested' });
  for (const body of [{ invoiceNumber: orderId, decision: 'pass' }, { id: transactionId }])
    expect(await webhook(body)).toEqual({ status: 'accepted' });
  await untilEnded(server.client, `after:default:${orderId}`);
  expect((await all.read(orderId)).afterEnd.decisions).toMatchObject([first]);
  expect(all.eventsOf(orderId)).toHaveLength(1);
  // A run of its own, which goes on where the first one ended.
  all.sandbox.control.decide(orderId, 'pass');
  await eventArrives({ decision: 'pass', action: 'cancel' }, 2);
  expect((await all.read(orderId)).afterEnd.decisions).toMatchObject([first, { decision: 'pass' }]);
});

it('portal actions and redeliveries are shown with the order, also without a worker', async () => {
  const integration = 'verbose';
  const orderId = `${anOrderId()}'s 100%_:1`;
  const other = `${orderId}:2`;
  const [first = 0, second = 0] = await Promise.all(
    [orderId, other].map(async (one, index) => {
      await closedOrder(one, integration);
      return numberBeforeEvents(await all.read(one, integration)) + index + 1;
    }),
  );
  const requests: [string, string, object?][] = [
    [orderId, 'report-fraud'],
    [orderId, 'customer-code', { customerCode: '7', email: 'pass@example.com' }],
    [orderId, `events/${first}/redeliver`],
    [other, 'customer-code', { customerCode: '8', email: 'pass@example.com' }],
    [other, `events/${second}/redeliver`],
  ];
  for (const [order, path, body = {}] of requests) {
    const url = `/v1/orders/${encodeURIComponent(order)}/${path}?integration=${integration}`;
    expect((await all.call('POST', url, body)).status).toBe(200);
  }
  const shown = async (order: string) => {
    const { actions, redeliveries } = (await all.read(order, integration)).afterEnd;
    expect(actions[0].finishedAt).toEqual(expect.any(String));
    return [
      ...actions.map(({ kind, status }: { kind: string; status: string }) => `${kind} ${status}`),
      ...redeliveries.map((one: { sequence: number; status: string }) => `${one.sequence} ${one.status}`),
    ];
  };
  const areShown = async () => {
    expect(await shown(orderId)).toEqual(['report-fraud done', 'customer-code done', `${first} delivered`]);
    expect(await shown(other)).toEqual(['customer-code done', `${second} delivered`]);
  };
  // The list of workflows lags.
  await eventually(areShown);
  await all.worker().stop();
  await areShown();
  const url = `${all.apiUrl}/orders/${encodeURIComponent(orderId)}?integration=${integration}`;
  const page = (await (await fetch(url)).text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(page).toContain(`Event ${first} sent again: delivered after the end`);
  expect(page).toMatch(/Report fraud done/);
});
