import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import type { ActivitiesByQueue } from '../../src/activities/activity-world.ts';
import { createActivities, createEventSender } from '../../src/activities/index.ts';
import type { HeartbeatDetails } from '../../src/activities/tries.ts';
import { createCardStash } from '../../src/cards/index.ts';
import type { OrderEvent } from '../../src/contract/messages.ts';
import { type Attempt, failureOf, perform, runFactsOf } from './support.ts';

const SECRET = `whsec_${Buffer.from('canary-events-secret-0123456789').toString('base64')}`;
const NEW_SECRET = `whsec_${Buffer.from('canary-events-secret-that-is-new').toString('base64')}`;

interface Delivery {
  headers: Record<string, string>;
  body: string;
}

/** How the receiver answers one delivery: a status, or not at all. */
type Answer = number | 'hang' | 'reset' | 'redirect' | 'babble';

let server: Server;
let deliveries: Delivery[];
let answers: Answer[];
/** The one secret that the receiver knows. */
let known: string;

beforeEach(async () => {
  deliveries = [];
  answers = [];
  known = SECRET;
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const headers = Object.fromEntries(pairs(request.headers));
      if (!isSigned(headers, body)) {
        response.writeHead(401).end();
        return;
      }
      deliveries.push({ headers, body });
      const answer = answers.shift() ?? 204;
      if (answer === 'hang') return;
      if (answer === 'reset') {
        request.socket.resetAndDestroy();
        return;
      }
      if (answer === 'redirect') response.setHeader('location', '/elsewhere');
      response.statusCode = answer === 'redirect' ? 302 : answer === 'babble' ? 200 : answer;
      response.end(answer === 'babble' ? 'x'.repeat(1_000_000) : 'canary words of the receiver');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
afterEach(async () => {
  vi.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

function pairs(headers: NodeJS.Dict<string | string[]>): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, String(value)]);
}

function isSigned(headers: Record<string, string>, body: string): boolean {
  try {
    new Webhook(known).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

function anEvent(sequence: number): OrderEvent {
  return {
    id: `evt-A-1-${sequence}`,
    type: 'order.decided',
    orderId: 'A-1',
    integration: 'default',
    sequence,
    occurredAt: '2026-11-21T08:00:00.000Z',
    data: { phase: 'decided', decision: 'pass', action: 'proceed', attempt: 1, attention: [] },
  };
}

function activities(to = address(), secrets = [SECRET]): ActivitiesByQueue {
  return createActivities({
    findIntegration: () => undefined,
    cards: createCardStash('memory:'),
    events: { own: new Map(), common: createEventSender(to, secrets) },
  });
}

function address(): string {
  // A TCP server's address is an object.
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/events?token=canary`;
}

function sequences(): number[] {
  return deliveries.map(({ body }) => JSON.parse(body).sequence);
}

const EVENTS = [anEvent(1), anEvent(2), anEvent(3)];

describe('durable delivery', () => {
  const deliver = (attempt: Attempt = {}, heartbeats: unknown[] = [], to?: string) =>
    perform(activities(to).background.deliverEvents, EVENTS, attempt, heartbeats);

  it('sends every event in order, and tells how far it has come', async () => {
    const heartbeats: unknown[] = [];
    await deliver({}, heartbeats);
    expect(sequences()).toEqual([1, 2, 3]);
    expect(heartbeats).toEqual([{ arrived: 1 }, { arrived: 2 }, { arrived: 3 }]);
  });

  it('signs them by Standard Webhooks, with the event’s own id', async () => {
    await deliver();
    for (const [index, { headers, body }] of deliveries.entries()) {
      const { id, ...payload } = anEvent(index + 1);
      expect(new Webhook(SECRET).verify(body, headers)).toEqual(payload);
      expect(headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/json' });
    }
    expect(deliveries).toHaveLength(3);
  });

  it.each([
    ['Заказ-№1', '%D0%97%D0%B0%D0%BA%D0%B0%D0%B7-%E2%84%961'],
    ['注文 😀', '%E6%B3%A8%E6%96%87 %F0%9F%98%80'],
    ['A\n1\u007f', 'A%0A1%7F'],
    ['%D0%97', '%25D0%2597'],
    ['half \ud83d', 'half %EF%BF%BD'],
  ])('carries the id of an order named %j in the header, percent-encoded', async (orderId, encoded) => {
    const event = { ...anEvent(1), id: `default:${orderId}:1`, orderId };
    await perform(activities().background.deliverEvents, [event]);
    expect(deliveries[0]?.headers['webhook-id']).toBe(`default:${encoded}:1`);
    expect(JSON.parse(deliveries[0]?.body ?? '').orderId).toBe(orderId);
  });

  it('loses nothing while the secret is changed, at a receiver that knows one at a time', async () => {
    const send = (event: OrderEvent, ...secrets: string[]) =>
      perform(activities(address(), secrets).background.deliverEvents, [event]);
    await send(anEvent(1), SECRET);
    await send(anEvent(2), SECRET, NEW_SECRET);
    known = NEW_SECRET;
    await send(anEvent(3), SECRET, NEW_SECRET);
    await send(anEvent(4), NEW_SECRET);
    expect(sequences()).toEqual([1, 2, 3, 4]);
    const refused = await failureOf(send(anEvent(5), SECRET));
    expect(refused.message).toBe('the events receiver answered 401');
  });

  it('stops at the first that does not arrive, and goes on with it, under the same id', async () => {
    answers = [204, 503];
    const heartbeats: unknown[] = [];
    const failure = await failureOf(deliver({}, heartbeats));
    expect(failure).toMatchObject({
      type: 'not-delivered',
      message: 'the events receiver answered 503',
      nonRetryable: false,
    });
    expect(sequences()).toEqual([1, 2]);
    await deliver({ attempt: 2, heartbeatDetails: heartbeats.at(-1) });
    expect(sequences()).toEqual([1, 2, 2, 3]);
    expect(deliveries[2]?.headers['webhook-id']).toBe(deliveries[1]?.headers['webhook-id']);
  });

  test.each([
    ['redirect', 'answered 302'],
    ['reset', 'did not answer'],
    [400, 'answered 400'],
  ] as const)('takes «%s» for no delivery', async (answer, words) => {
    answers = [answer];
    expect((await failureOf(deliver())).message).toBe(`the events receiver ${words}`);
    expect(deliveries).toHaveLength(1);
  });

  it('does not mind what the receiver says, however long', async () => {
    answers = ['babble'];
    await deliver();
    expect(sequences()).toEqual([1, 2, 3]);
  });

  it('names no address when there is nobody', async () => {
    const failure = await failureOf(deliver({}, [], 'http://127.0.0.1:9/canary'));
    expect(failure.message).toBe('the events receiver did not answer');
  });

  it('leaves to the next try what it cannot deliver before this one must end', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const heartbeats: unknown[] = [];
    const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    environment.on('heartbeat', ({ arrived: sequence }: HeartbeatDetails) => {
      heartbeats.push(sequence);
      if (sequence === 2) vi.setSystemTime(Date.now() + 29_500);
    });
    const failure = await failureOf(
      environment.run(activities().background.deliverEvents, EVENTS, runFactsOf({})),
    );
    expect(failure).toMatchObject({ type: 'more-to-deliver', nextRetryDelay: 1 });
    expect(heartbeats).toEqual([1, 2]);
    expect(sequences()).toEqual([1, 2]);
  });

  it('is tried again when no receiver is configured any more', async () => {
    const { background } = createActivities({
      findIntegration: () => undefined,
      cards: createCardStash('memory:'),
    });
    const failure = await failureOf(perform(background.deliverEvents, EVENTS));
    expect(failure).toMatchObject({ type: 'no-receiver', nonRetryable: false });
  });
});
