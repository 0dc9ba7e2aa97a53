/** Card data in every place of what comes by the client library, any SDK and the command line: it is refused, and nothing of it is shown. */
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOutput } from '../../src/cli/output.ts';
import { createProgram } from '../../src/cli/program.ts';
import { OrderScreeningError } from '../../src/contract/errors.ts';
import { messageRefusal, startRefusal } from '../../src/order/messages/check-messages.ts';
import { PORTAL_ACTION_INPUT } from '../../src/order/messages/shapes.ts';
import { aClient } from '../client/fake-temporal.ts';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { TRANSACTION_ID } from '../server/api/fake-order-screening.ts';
import {
  CARD_LIKE_ID,
  card,
  disguised,
  expectNothingOf,
  order,
  placesOf,
  planted,
  planting,
  REFUSED,
} from './card-disguises.ts';

type Orders = ReturnType<typeof aClient>['orderScreening'];

/** Every method of the client library that sends what a caller says, with the plant in one place after the other. */
function librarySends(orders: Orders, text: string): (() => Promise<unknown>)[] {
  const named = { orderId: 'o-1' };
  const planted = { orderId: text };
  const key = { idempotencyKey: text };
  const chargeback = { reason_code: '10.4', due_date: '2030-01-31' };
  const adopt = { transactionId: TRANSACTION_ID, screenedAt: '2030-01-31T12:00:00Z' };
  return [
    () => orders.screen({ ...planted, transaction: order }),
    () => orders.screen({ ...named, transaction: { ...order, userFields: { deep: [{ [text]: 1 }] } } }),
    () => orders.retry({ ...named, attempt: 2, transaction: { ...order, authcode: text } }),
    () => orders.adopt({ ...planted, ...adopt }),
    () => orders.adopt({ ...named, ...adopt, invoiceNumber: text }),
    () => orders.recordGatewayResult(named, { result: 'pass', authcode: text }),
    () => orders.recordGatewayResult(named, { result: 'pass', transactionId: text }),
    () => orders.recordGatewayResult(planted, { result: 'pass' }),
    () => orders.cancel(named, { reason: text }),
    () => orders.cancel(named, {}, key),
    () => orders.reportFraud(named, { reason: text }),
    () => orders.submitChargeback(named, { ...chargeback, notes: text }),
    () => orders.submitChargeback(named, { ...chargeback, reference_number: text }, key),
    () => orders.attachCustomerCode(named, { customerCode: text }),
    () => orders.acknowledge(named, { reason: text }),
    () => orders.acknowledge(named, { reason: 'x' }, key),
    () => orders.note(named, { text }),
    () => orders.assign(named, { assignee: text }),
    () => orders.snooze(named, { until: adopt.screenedAt, note: text }),
    () => orders.override(named, { action: 'cancel', reason: text }),
    () => orders.withdraw(named, { number: 1 }, key),
    () => orders.redeliver(planted, { sequence: 1 }),
    () => orders.recheck(planted),
    () => orders.get(planted),
    () => orders.inspect(planted),
    () => orders.getTransaction({ idOrInvoice: text }),
    () => orders.putCard({ ...planted, ...TEST_CARD }),
  ];
}

const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The error shows nothing of the plant. */
function expectOurs(error: unknown, text: string): void {
  expect(error).toBeInstanceOf(OrderScreeningError);
  if (!(error instanceof OrderScreeningError)) return;
  expect(error.code).toBe(REFUSED);
  expectNothingOf(text, JSON.stringify([error.message, error.details]));
}

describe('by the client library card data is refused', () => {
  it('in everything that it sends, and Temporal hears of nothing', async () => {
    const { orderScreening, temporal, handles } = aClient();
    await fc.assert(
      fc.asyncProperty(disguised, async (text) => {
        for (const call of librarySends(orderScreening, text)) expectOurs(await errorOf(call()), text);
      }),
      { numRuns: 50 },
    );
    for (const method of Object.values(temporal)) expect(method).not.toHaveBeenCalled();
    expect(handles).toEqual([]);
  });

  it('but an id that the policy vouches for is sent, and the order is told so', async () => {
    const notCards = ['orderId', 'order.invoiceNumber', 'carrier_tracking_number'];
    const { orderScreening, temporal } = aClient({ notCards });
    const transaction = aTransaction({ order: { invoiceNumber: CARD_LIKE_ID } });
    await errorOf(orderScreening.screen({ orderId: CARD_LIKE_ID, transaction }));
    const started = JSON.stringify(temporal.executeUpdateWithStart.mock.calls);
    expect(started).toContain(JSON.stringify({ notCards }).slice(1, -1));
    const chargeback = { reason_code: '1', due_date: '2030-01-31' };
    const tracked = { ...chargeback, carrier_tracking_number: CARD_LIKE_ID };
    await errorOf(orderScreening.submitChargeback({ orderId: 'o-1' }, tracked));
    await errorOf(orderScreening.submitChargeback({ orderId: 'o-1' }, chargeback));
    const [vouched, other] = temporal.startUpdate.mock.calls;
    expect(vouched).toMatchObject([{}, { args: [{ body: { notCards } }] }]);
    expect(JSON.stringify(other)).not.toContain('notCards');
  });
});

describe('by any SDK card data is refused', () => {
  const start = { orderId: 'o-1', transaction: order, cardRef: 'card_1', fingerprint: 'f' };
  const raw = (value: unknown) => JSON.parse(JSON.stringify(value));
  const asked = [
    { attempt: 2, transaction: order, fingerprint: 'f' },
    { attempt: 1, result: 'pass', authcode: 'a', transactionId: 't' },
    { reason: 'r', transactionId: 't' },
    { reason_code: '1', due_date: '2030-01-31', notes: 'n', reference_number: 'r', carrier: 'c' },
    { customerCode: 'c', email: 'a@example.com' },
    { action: 'proceed', reason: 'r' },
    { number: 1 },
  ];

  it('in every place of a start, the fields of a card not excepted', () => {
    const places = placesOf({ ...start, transaction: { ...order, payment: card } }).filter(
      ([first]) => first !== 'orderId',
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), planted, (place, plant) => {
        const refused = startRefusal(raw(planting(start, place, plant)), 'order:default:o-1');
        expect(refused).toBeDefined();
        // What has the wrong form is refused for that.
        if (place[0] === 'transaction' && place.length > 1) expect(refused?.code).toBe(REFUSED);
        expectNothingOf(plant, JSON.stringify(refused));
      }),
      { numRuns: 1_000 },
    );
    const whole = { ...start, transaction: { ...order, payment: card } };
    expect(startRefusal(raw(whole), 'order:default:o-1')?.errors).toHaveLength(2);
    expect(startRefusal(raw(start), 'order:default:o-1')).toBeUndefined();
  });

  it('as the order’s id, unless the start itself vouches for it; an order that goes on was judged before', () => {
    const named = { ...start, orderId: CARD_LIKE_ID };
    const id = `order:default:${CARD_LIKE_ID}`;
    expect(startRefusal(raw(named), id)).toMatchObject({ code: REFUSED, errors: [{ path: 'orderId' }] });
    expect(startRefusal(raw({ ...named, notCards: ['orderId'] }), id)).toBeUndefined();
    expect(startRefusal(raw(named), id, true)).toBeUndefined();
  });

  it('in every place of an update, and in its id', () => {
    const places = asked.flatMap((message) => placesOf(message).map((place) => ({ message, place })));
    fc.assert(
      fc.property(fc.constantFrom(...places), planted, disguised, ({ message, place }, plant, id) => {
        expect(messageRefusal(planting(message, place, plant), {})?.code).toBe(REFUSED);
        expect(messageRefusal(message, {}, ['9f1c8a52', id])?.code).toBe(REFUSED);
        expect(messageRefusal(message, {}, ['9f1c8a52-6f0e-4b44-9a3e-2a5d3c1b7e10'])).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('in a portal action that runs by itself', () => {
    const fields = { kind: 'cancel', reason: CARD_LIKE_ID };
    const input = { integration: 'default', transactionId: 't', fields };
    const errors = [{ path: 'fields.reason' }];
    expect(messageRefusal(input, PORTAL_ACTION_INPUT)).toMatchObject({ code: REFUSED, errors });
  });
});

it('by the command line card data is refused, and Temporal hears of nothing', async () => {
  onTestFinished(() => {
    process.exitCode = undefined;
  });
  const { orderScreening, temporal } = aClient();
  const output = createOutput(true, () => undefined);
  const run = (args: string[]) =>
    createProgram({ env: {}, output, withOrders: async (use) => use(orderScreening) }).parseAsync(args, {
      from: 'user',
    });
  await fc.assert(
    fc.asyncProperty(disguised, async (text) => {
      for (const command of [
        ['recheck', text],
        ['cancel', 'o-1', '--reason', text],
      ]) {
        const error = await errorOf(run(command));
        expect(error).toBeInstanceOf(Error);
        expectNothingOf(text, JSON.stringify([String(error), error]));
      }
    }),
    { numRuns: 20 },
  );
  for (const method of Object.values(temporal)) expect(method).not.toHaveBeenCalled();
});
