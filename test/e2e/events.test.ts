/** Events of a whole deployment: where they go, and how they are named. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { runCli } from './run-cli.ts';
import { anOrderId, type Deployment, deploy, startReceiver } from './support.ts';

const PHONE_SECRET = `whsec_${Buffer.from('a secret of the phone receiver').toString('base64')}`;

const server = withTestServer();
let phone: Awaited<ReturnType<typeof startReceiver>>;
let all: Deployment;

beforeAll(async () => {
  phone = await startReceiver(PHONE_SECRET);
  all = await deploy(
    server.address,
    {
      default: { events: 'all' },
      changes: {},
      phone: { events: 'all', eventsUrl: phone.url, eventsSecretEnv: 'PHONE_EVENTS_SECRETS' },
    },
    { env: { PHONE_EVENTS_SECRETS: PHONE_SECRET } },
  );
});
afterAll(async () => {
  await all?.stop();
  await phone?.close();
});

const screen = (orderId: string, email: string, more: object = {}) =>
  all.call('POST', `/v1/orders/${encodeURIComponent(orderId)}/screening`, {
    transaction: withEmail(email),
    ...more,
  });

describe('with the policy changes, the default,', () => {
  const slow = (orderId: string) =>
    all.sandbox.control.setFaults({
      faults: [
        {
          operation: 'create-transaction',
          kind: 'delay',
          delayMs: 1_000,
          times: 1,
          match: { invoice: orderId },
        },
      ],
    });
  const typesOf = (orderId: string) =>
    all.events.filter((one) => one.orderId === orderId).map(({ type, sequence }) => [sequence, type]);
  const resolve = async (orderId: string) => {
    all.sandbox.control.decide(orderId, 'pass');
    await all.call('POST', `/v1/orders/${orderId}/recheck?integration=changes`, {});
  };

  it('the first event of a review that its caller was given is its change', async () => {
    const orderId = anOrderId();
    expect((await screen(orderId, 'review@example.com', { integration: 'changes' })).status).toBe(200);
    await resolve(orderId);
    await eventually(() => expect(typesOf(orderId)).toEqual([[1, 'order.review_resolved']]));
  });

  it('a caller that missed the answer gets it by the same request, not as an event', async () => {
    const orderId = anOrderId();
    slow(orderId);
    const gone = fetch(`${all.apiUrl}/v1/orders/${orderId}/screening`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ transaction: withEmail('review@example.com'), integration: 'changes' }),
      signal: AbortSignal.timeout(500),
    });
    await expect(gone).rejects.toThrow();
    expect(await screen(orderId, 'review@example.com', { integration: 'changes' })).toMatchObject({
      status: 200,
      body: { decision: 'review', action: 'hold' },
    });
    await resolve(orderId);
    await eventually(() => expect(typesOf(orderId)).toEqual([[1, 'order.review_resolved']]));
  });

  it('a decline is sent', async () => {
    const orderId = anOrderId();
    expect((await screen(orderId, 'fail@example.com', { integration: 'changes' })).body.action).toBe(
      'decline',
    );
    await eventually(() => expect(typesOf(orderId)[0]).toEqual([1, 'order.decided']));
  });
});

describe('events of an order', () => {
  it.each(['Заказ', '注文 😀', 'Größe'])('named %s arrive', async (name) => {
    const orderId = `${name}-${anOrderId()}`;
    expect((await screen(orderId, 'pass@example.com')).status).toBe(200);
    await eventually(() => {
      const [event] = all.events.filter((one) => one.orderId === orderId);
      expect(event).toMatchObject({ type: 'order.decided', id: expect.stringMatching(/^default:[ -~]+:1$/) });
    });
  });

  it('go to its integration’s own receiver, and to nobody else', async () => {
    const [own, common] = [anOrderId(), anOrderId()];
    await screen(own, 'pass@example.com', { integration: 'phone' });
    await screen(common, 'pass@example.com');
    await eventually(() => {
      expect(phone.events.map(({ orderId, integration }) => [orderId, integration])).toEqual([
        [own, 'phone'],
      ]);
      expect(all.events.some(({ orderId }) => orderId === common)).toBe(true);
    });
    expect(all.events.some(({ orderId }) => orderId === own)).toBe(false);
  });
});

describe('an event that is sent again', () => {
  const again = (orderId: string, sequence: number) =>
    all.call('POST', `/v1/orders/${encodeURIComponent(orderId)}/events/${sequence}/redeliver`, {});
  const of = (orderId: string) => all.events.filter((one) => one.orderId === orderId);

  it('has the same id and content, from an open order and from a closed one', async () => {
    const orderId = `Größe ${anOrderId()}`;
    await screen(orderId, 'review@example.com');
    await eventually(() => expect(of(orderId)).toHaveLength(1));
    expect(await again(orderId, 1)).toMatchObject({
      status: 200,
      body: { orderId, sequence: 1, type: 'order.decided', status: 'delivered' },
    });
    expect(of(orderId)).toEqual([of(orderId)[0], of(orderId)[0]]);
    all.sandbox.control.decide(orderId, 'fail');
    await all.call('POST', `/v1/orders/${encodeURIComponent(orderId)}/recheck`, {});
    await eventually(() => expect(of(orderId).at(-1)).toMatchObject({ type: 'order.closed' }));
    const before = of(orderId);
    await eventually(async () => {
      const { status } = await server.client.workflow.getHandle(`order:default:${orderId}`).describe();
      expect(status.name).toBe('COMPLETED');
    });
    for (const { sequence } of before.slice(1)) expect((await again(orderId, sequence)).status).toBe(200);
    expect(of(orderId)).toEqual([...before, ...before.slice(1)]);
  });

  it('that the receiver doesn’t take is told, and can be sent when it does', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    await eventually(() => expect(of(orderId)).toHaveLength(1));
    all.refuseEvents(true);
    const refused = await again(orderId, 1);
    all.refuseEvents(false);
    expect(refused).toMatchObject({
      status: 502,
      body: { type: '/problems/event-not-delivered', detail: expect.stringContaining('503') },
    });
    expect((await again(orderId, 1)).status).toBe(200);
    expect(of(orderId)).toHaveLength(2);
  });

  it('that the order doesn’t keep is refused, by number and by command line', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    expect(await again(orderId, 9)).toMatchObject({ status: 404, body: { type: '/problems/unknown-event' } });
    await eventually(() => expect(of(orderId)).toHaveLength(1));
    const run = await runCli(['redeliver', orderId, '1'], all.settings);
    expect([run.code, run.json().status]).toEqual([0, 'delivered']);
  });
});
