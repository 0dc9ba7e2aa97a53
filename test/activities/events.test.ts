import { noopMetricMeter } from '@temporalio/common';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createActivities, createEventSender } from '../../src/activities/index.ts';
import { createCardStash } from '../../src/card-stash/index.ts';
import { MEASURED_TIME } from '../../src/contract/activity-contract.ts';
import { MACHINE } from '../../src/screening-service/index.ts';
import { anOrderEvent } from '../fixtures/events.ts';
import { anIntegration, finding } from '../fixtures/integrations.ts';
import { stubService } from '../screening-service/stub-service.ts';
import { aPortalRequest } from './portal-support.ts';
import { type Attempt, failureOf, perform } from './support.ts';

const secretOf = (words: string) => `whsec_${Buffer.from(words).toString('base64')}`;
const SECRET = secretOf('canary-events-secret-0123456789');
const NEW_SECRET = secretOf('canary-events-secret-that-is-new');

type Receiver = Awaited<ReturnType<typeof stubService>>;
type Answer = Parameters<Receiver['answerWith']>[0];
let receiver: Receiver;
/** The one secret that the receiver knows. */
let known: string;
/** How the receiver answers its next deliveries; then it takes each. */
let answers: Answer[];

function status(code: number, body = 'canary words of the receiver'): Answer {
  return (response) => response.writeHead(code, { location: '/elsewhere' }).end(body);
}

beforeEach(async () => {
  receiver = await stubService();
  known = SECRET;
  answers = [];
  receiver.answerWith((response, request) => {
    const { body, headers } = receiver.seen.at(-1) ?? { body: '', headers: {} };
    try {
      new Webhook(known).verify(body, headers as Record<string, string>);
    } catch {
      receiver.seen.pop();
      response.writeHead(401).end();
      return;
    }
    (answers.shift() ?? status(200))(response, request);
  });
});
afterEach(() => receiver.close());

const anEvent = (sequence: number, orderId = 'A-1') =>
  anOrderEvent({ id: `default:${orderId}:${sequence}`, orderId, sequence });
/** The sweep's events have sequence 0. */
const EVENTS = [anEvent(0), anEvent(1), anEvent(2)];

/** The activities of a worker with a receiver at that address, or none. */
function background(
  url: string | undefined = `${receiver.url}/events?token=canary`,
  secrets = [SECRET],
  machine = MACHINE,
) {
  const world = { findIntegration: finding(anIntegration()), cards: createCardStash('memory:'), machine };
  const events = { own: new Map(), ...(url !== '' && { common: createEventSender(url, secrets, machine) }) };
  return createActivities({ ...world, events }).background;
}

/** What arrived: the content of each event. */
const arrived = () => receiver.seen.map(({ body }) => JSON.parse(body));
const sequences = () => arrived().map(({ sequence }) => sequence);
const idsSent = () => receiver.seen.map(({ headers }) => headers['webhook-id']);

describe('durable delivery', () => {
  const deliver = (attempt: Attempt = {}, heartbeats: unknown[] = [], to = background()) =>
    perform(to.deliverEvents, EVENTS, attempt, heartbeats);

  it('sends every event in order, and tells how far it has come', async () => {
    const heartbeats: unknown[] = [];
    await deliver({}, heartbeats);
    expect(arrived()).toEqual(EVENTS.map(({ id: _inHeader, ...content }) => content));
    expect(idsSent()).toEqual(EVENTS.map(({ id }) => id));
    expect(heartbeats).toEqual([{ arrived: 0 }, { arrived: 1 }, { arrived: 2 }]);
  });

  it.each([
    ['Заказ-№1', '%D0%97%D0%B0%D0%BA%D0%B0%D0%B7-%E2%84%961'],
    ['注文 😀', '%E6%B3%A8%E6%96%87 %F0%9F%98%80'],
    ['A\n1\u007f', 'A%0A1%7F'],
    ['%D0%97', '%25D0%2597'],
    ['half \ud83d', 'half %EF%BF%BD'],
  ])('carries the id of an order named %j in the header, percent-encoded', async (orderId, encoded) => {
    await perform(background().deliverEvents, [anEvent(1, orderId)]);
    expect(idsSent()).toEqual([`default:${encoded}:1`]);
    expect(arrived()).toMatchObject([{ orderId }]);
  });

  it('loses nothing while the secret is changed, at a receiver that knows one at a time', async () => {
    const send = (sequence: number, ...secrets: string[]) =>
      perform(background(undefined, secrets).deliverEvents, [anEvent(sequence)]);
    await send(1, SECRET);
    await send(2, SECRET, NEW_SECRET);
    known = NEW_SECRET;
    await send(3, SECRET, NEW_SECRET);
    await send(4, NEW_SECRET);
    expect(sequences()).toEqual([1, 2, 3, 4]);
    const refused = await failureOf(send(5, SECRET));
    expect(refused.message).toBe('the events receiver answered 401');
  });

  it('is signed with the server’s time, once the worker knows that its own clock is wrong', async () => {
    const machine = { ...MACHINE, now: () => Date.now() + 600_000 };
    const to = background(undefined, [SECRET], machine);
    const request = aPortalRequest('cancel', { integration: 'elsewhere' });
    const heartbeats: unknown[] = [];
    const cancel = (attempt: Attempt) =>
      failureOf(perform(to.performPortalAction, request, attempt, heartbeats));
    expect(await cancel({})).toMatchObject({ type: MEASURED_TIME });
    await cancel({ attempt: 2, heartbeatDetails: heartbeats.at(-1) });
    await deliver({}, [], to);
    const sentAt = Number(receiver.seen[0]?.headers['webhook-timestamp']) * 1_000;
    expect(Math.abs(sentAt - Date.now())).toBeLessThan(5_000);
  });

  it('stops at the first that does not arrive, and goes on with it, under the same id', async () => {
    answers = [status(204), status(503)];
    const heartbeats: unknown[] = [];
    expect(await failureOf(deliver({}, heartbeats))).toMatchObject({
      type: 'not-delivered',
      message: 'the events receiver answered 503',
      nonRetryable: false,
    });
    expect(sequences()).toEqual([0, 1]);
    await deliver({ attempt: 2, heartbeatDetails: heartbeats.at(-1) });
    expect(sequences()).toEqual([0, 1, 1, 2]);
    expect(idsSent()[2]).toBe(idsSent()[1]);
  });

  it('is tried again soon after a try that the receiver took an event of, however long it was away before', async () => {
    answers = [status(204), status(503), status(503)];
    const heartbeats: unknown[] = [];
    const pauseOf = async (attempt: Attempt) =>
      (await failureOf(deliver(attempt, heartbeats))).nextRetryDelay;
    expect(await pauseOf({ attempt: 9 })).toBe(2_000);
    expect(await pauseOf({ attempt: 4, heartbeatDetails: heartbeats.at(-1) })).toBe(54_000);
  });

  it.each<[string, Answer]>([
    ['answered 302', status(302)],
    ['answered 400', status(400)],
    ['did not answer', (_response, request) => request.socket.resetAndDestroy()],
  ])('is none when the receiver %s', async (words, answer) => {
    answers = [answer];
    expect((await failureOf(deliver())).message).toBe(`the events receiver ${words}`);
    expect(sequences()).toEqual([0]);
  });

  it.each([
    ['120', 120_000],
    ['7200', 7_200_000],
    ['90000', 6 * 3_600_000],
    ['soon', 2_000],
  ])('obeys a Retry-After of the receiver, for six hours at most: %s', async (seconds, nextRetryDelay) => {
    answers = [(response) => response.writeHead(429, { 'retry-after': seconds }).end()];
    expect(await failureOf(deliver())).toMatchObject({ nextRetryDelay });
  });

  it.each([
    [1, 2_000],
    [3, 18_000],
    [40, 6 * 3_600_000],
  ])('is tried again after pauses that grow: try %i, %i ms', async (attempt, nextRetryDelay) => {
    answers = [status(503)];
    expect(await failureOf(deliver({ attempt }))).toMatchObject({ nextRetryDelay });
  });

  it.each([
    ['no receiver is configured', '', 'default'],
    ['its integration isn’t configured: its own receiver is unknown', undefined, 'elsewhere'],
  ])('is tried again each minute, and counts as not delivered, while %s', async (_what, url, integration) => {
    const events = [{ ...anEvent(1), integration }];
    const record = vi.fn();
    const metricMeter = Object.assign(Object.create(noopMetricMeter), {
      createHistogram: () => ({ record }),
    });
    const failure = await failureOf(perform(background(url).deliverEvents, events, { metricMeter }));
    expect(failure).toMatchObject({ type: 'no-receiver', nonRetryable: false, nextRetryDelay: 60_000 });
    expect(record.mock.calls).toMatchObject([[expect.any(Number), { integration, outcome: 'failed' }]]);
    expect(receiver.seen).toEqual([]);
  });

  it('leaves to the next try what it cannot deliver before this one must end', async () => {
    let elapsed = 0;
    const slowly: Answer = (response) => {
      elapsed += 29_500;
      response.end();
    };
    answers = [status(204), slowly];
    const heartbeats: unknown[] = [];
    const to = background(undefined, [SECRET], { ...MACHINE, elapsed: () => elapsed });
    const failure = await failureOf(deliver({}, heartbeats, to));
    expect(failure).toMatchObject({ type: 'more-to-deliver', nextRetryDelay: 1 });
    expect(heartbeats).toEqual([{ arrived: 0 }, { arrived: 1 }]);
    expect(sequences()).toEqual([0, 1]);
  });
});
