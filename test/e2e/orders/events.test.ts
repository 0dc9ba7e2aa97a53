/** Events of a whole deployment: where they go, and how they are named. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, withTestServer } from '../../support/index.ts';
import { untilEnded } from '../operator.ts';
import { startReceiver } from '../receiver.ts';
import { anOrderId, type Deployment, deploy } from '../support.ts';

const PHONE_SECRET = `whsec_${Buffer.from('a secret of the phone receiver').toString('base64')}`;

const server = withTestServer();
let phone: Awaited<ReturnType<typeof startReceiver>>;
let all: Deployment;

beforeAll(async () => {
  phone = await startReceiver(PHONE_SECRET);
  const own = { eventsUrl: phone.url, eventsSecretEnv: 'PHONE_EVENTS_SECRETS' };
  const integrations = { default: { events: 'all' }, phone: { events: 'all', ...own } };
  all = await deploy(server.address, integrations, { env: { PHONE_EVENTS_SECRETS: PHONE_SECRET } });
});
afterAll(async () => {
  await all?.stop();
  await phone?.close();
});

it('events go to their integration’s own receiver, and to nobody else', async () => {
  const [own, common] = [anOrderId(), anOrderId()];
  await all.screen(own, 'pass', { integration: 'phone' });
  await all.screen(common);
  await eventually(() => {
    expect(phone.events).toMatchObject([{ orderId: own, integration: 'phone' }]);
    expect(all.eventsOf(common)).not.toEqual([]);
  });
  expect(all.eventsOf(own)).toEqual([]);
});

it('an event that is sent again has the same id and content, from an open order and from a closed one', async () => {
  const orderId = `Größe ${anOrderId()}`;
  const path = `/v1/orders/${encodeURIComponent(orderId)}`;
  const again = (sequence: number) => all.call('POST', `${path}/events/${sequence}/redeliver`, {});
  await all.screen(orderId, 'review');
  await eventually(() => expect(all.eventsOf(orderId)).toHaveLength(1));
  const { sequence: firstNumber = 0 } = all.eventsOf(orderId)[0] ?? {};
  const body = { orderId, sequence: firstNumber, type: 'order.decided', status: 'delivered' };
  expect(await again(firstNumber)).toMatchObject({ status: 200, body });
  const [first, repeated] = all.eventsOf(orderId);
  expect(repeated).toEqual(first);
  all.sandbox.control.decide(orderId, 'fail');
  await all.call('POST', `${path}/recheck`, {});
  await untilEnded(server.client, `order:default:${orderId}`);
  const before = all.eventsOf(orderId);
  expect(before.at(-1)).toMatchObject({ type: 'order.closed' });
  const closing = before.slice(2);
  for (const { sequence } of closing) expect((await again(sequence)).status).toBe(200);
  expect(all.eventsOf(orderId)).toEqual([...before, ...closing]);
});

it('an event that is sent again while its receiver asks for an hour’s pause is reported at once, and may be sent again', async () => {
  const orderId = anOrderId();
  const again = () =>
    all.call('POST', `/v1/orders/${orderId}/events/${all.eventsOf(orderId)[0]?.sequence}/redeliver`, {});
  await all.screen(orderId);
  await eventually(() => expect(all.eventsOf(orderId)).toHaveLength(1));
  all.refuseEvents('for an hour');
  const refused = { status: 502, body: { type: '/problems/event-not-delivered' } };
  expect(await again().finally(() => all.refuseEvents(false))).toMatchObject(refused);
  expect(await again()).toMatchObject({ status: 200, body: { status: 'delivered' } });
});
