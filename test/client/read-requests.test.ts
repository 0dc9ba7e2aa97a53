import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readAdoptRequest } from '../../src/client/read-adopt-request.ts';
import { readCardRequest, readOrderId, readScreenRequest } from '../../src/client/read-requests.ts';
import { startRefusal } from '../../src/order/messages/check-messages.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anIntegration, finding } from '../fixtures/integrations.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../fixtures/transactions.ts';

const find = (settings = {}) => finding(anIntegration(settings));
const read = (raw: unknown, settings = {}) => readScreenRequest(raw, find(settings));

function errorOf(call: () => unknown): OrderScreeningError {
  try {
    call();
  } catch (error) {
    if (error instanceof OrderScreeningError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const pathsOf = (call: () => unknown) =>
  errorOf(call)
    .details.errors?.map(({ path }) => path)
    .sort();

describe('a request to screen', () => {
  it('is read with its defaults', () => {
    expect(read({ orderId: '#1001', transaction: aTransaction() })).toMatchObject({
      orderId: '1001',
      attempt: 1,
      workflow: 'pre-acceptance',
      workflowNamed: undefined,
      invoiceNumber: '1001',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const transaction = aTransaction({ order: { invoiceNumber: '#A-7' } });
    expect(read({ orderId: '1', transaction }).invoiceNumber).toBe('A-7');
  });

  it.each(['landing_page', 'landingPage', 'referringUrl'])('is not refused for an ad’s id in %s', (name) => {
    const order = { [name]: `https://shop.example/?gclid=${TEST_CARD.cardNumber}` };
    const request = read({ orderId: '1', transaction: { ...aTransaction(), order } });
    expect(request.warnings).toMatchObject([{ path: `transaction.order.${name}` }]);
    expect(JSON.stringify(request.transaction)).not.toContain(TEST_CARD.cardNumber);
  });

  it('is not refused for an ad’s id if policy skips it, also without the fields that a screening needs', () => {
    const order = { landingPage: `https://shop.example/?gclid=${TEST_CARD.cardNumber}` };
    const transaction = { payment: { method: 'gift card' }, order };
    const request = read({ orderId: '1', transaction }, { skip: [{ paymentMethod: ['gift card'] }] });
    expect(request).toMatchObject({ transaction: { order: {} } });
    expect(request.warnings).toMatchObject([{ path: 'transaction.order.landingPage' }]);
    expect(JSON.stringify(request)).not.toContain(TEST_CARD.cardNumber);
  });

  it('has the same fingerprint once its card has expired', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const creditCard = { last4: '1111', expirationDate: '11/29' };
    const given = { orderId: '1', transaction: aTransaction({ payment: { method: 'card', creditCard } }) };
    const prints = ['2029-11-30T12:00:00Z', '2029-12-02T12:00:00Z'].map((now) => {
      vi.setSystemTime(now);
      return read(given).fingerprint;
    });
    expect(new Set(prints).size).toBe(1);
  });

  // What passes here and not there starts an order that fails, and its id is taken for good.
  const plan = (field: string) => ({ subscriptionDetails: { plan: { [field]: 'x' } } });
  it.each([
    ['a field cardNumber', '1', plan('cardNumber'), 'transaction.subscriptionDetails.plan.cardNumber'],
    ['a field card_code', '1', plan('card_code'), 'transaction.subscriptionDetails.plan.card_code'],
    ['a field nf-token', '1', plan('nf-token'), 'transaction.subscriptionDetails.plan.nf-token'],
    ['an id with a second #', '#1', {}, 'orderId'],
    ['more than 256 KiB', '1', { order: { referring_url: 'x'.repeat(256 * 1024) } }, 'transaction'],
  ])('is refused where the order’s workflow would refuse it: %s', (_what, orderId, changes, path) => {
    const transaction = aTransaction(changes);
    expect(startRefusal({ orderId, transaction }, `order:default:${orderId}`)).toMatchObject({
      errors: [{ path }],
    });
    expect(pathsOf(() => read({ orderId: orderId.replace('#', '##'), transaction }))).toEqual([path]);
  });

  it.each([' ', '# \u00a0'])('is refused with an id that is blank: %j', (orderId) => {
    const { details } = errorOf(() => read({ orderId, transaction: aTransaction() }));
    expect(details.errors).toEqual([{ path: 'orderId', message: 'must not be blank' }]);
  });

  it('has the full card data apart, and the same fingerprint for the same card', () => {
    const withCard = (card: object) => {
      const creditCard = { ...TEST_CARD, ...card };
      const transaction = aPreGatewayTransaction({ payment: { creditCard } });
      return read({ orderId: '1', workflow: 'pre-gateway', transaction });
    };
    const request = withCard({});
    expect(request.card).toEqual(TEST_CARD);
    expect(JSON.stringify(request.transaction)).not.toMatch(/4111111111111111|cardCode|expirationDate/);
    expect(withCard({ cardCode: '999' }).fingerprint).toBe(request.fingerprint);
    expect(withCard({ cardNumber: '5424000000000015' }).fingerprint).not.toBe(request.fingerprint);
  });

  it('lists faults of the request and of the transaction together', () => {
    const transaction = aTransaction({ amount: '-1' });
    const raw = { orderId: 'x'.repeat(65), attempt: 1.5, workflow: 'later', extra: 1, transaction };
    const paths = ['attempt', 'extra', 'orderId', 'transaction.amount', 'workflow'];
    expect(pathsOf(() => read(raw))).toEqual(paths);
    expect(pathsOf(() => read('text'))).toEqual(['orderId', 'transaction']);
  });

  it('may lack what a screening needs when policy skips the order, but has no full card data then either', () => {
    const settings = { skip: [{ paymentMethod: ['gift card'] }] };
    const transaction = { amount: '20.00', payment: { method: 'gift card' } };
    const request = read({ orderId: '1', transaction }, settings);
    expect(request.transaction).toEqual(transaction);
    expect(request.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(pathsOf(() => read({ orderId: '1', transaction }))).toContain('transaction.billTo');
    const payment = { ...transaction.payment, creditCard: { cardCode: '123' } };
    const withCard = { orderId: '1', transaction: { ...transaction, payment } };
    expect(errorOf(() => read(withCard, settings)).code).toBe('invalid-request');
  });

  it.each(['card', 'gift card'])('nests at most 20 levels deep, also if policy skips it: %s', (method) => {
    const settings = { skip: [{ paymentMethod: ['gift card'] }] };
    const circle: unknown[] = [];
    circle.push(circle);
    const nested = (levels: number): unknown => {
      if (levels === Infinity) return circle;
      return levels === 0 ? {} : [nested(levels - 1)];
    };
    const reading = (levels: number) => () => {
      const transaction = { ...aTransaction(), userFields: { nested: nested(levels - 3) } };
      return read({ orderId: '1', transaction: { ...transaction, payment: { method } } }, settings);
    };
    if (method === 'gift card') expect(reading(20)().transaction).toHaveProperty('userFields');
    for (const levels of [21, 1_000, Infinity])
      expect(errorOf(reading(levels)).details.errors).toEqual([
        { path: 'transaction', message: 'must be nested at most 20 levels deep' },
      ]);
  });

  it.each(['411111111111', 411111111111, '41111111'])(
    'keeps six digits of the bin %j when policy skips the order',
    (bin) => {
      const of = (begins: unknown, ends: unknown = '1111') => {
        const creditCard = { bin: begins, last4: ends };
        const transaction = { amount: '20.00', payment: { method: 'gift card', creditCard } };
        return read({ orderId: '1', transaction }, { skip: [{ amountBelow: 50, currency: ['USD'] }] });
      };
      expect(of(bin).transaction).toMatchObject({
        payment: { creditCard: { bin: '411111', last4: '1111' } },
      });
      expect(of(bin).fingerprint).toBe(of('411111').fingerprint);
      expect(of(bin, '1111111111').transaction).toEqual(of(bin, 1111).transaction);
    },
  );
});

describe('an order id', () => {
  it.each(['1001', 'a/b c', '注'.repeat(64)])('%s is kept, without a # before it', (id) => {
    expect(readOrderId(`#${id}`)).toBe(id);
  });

  it.each(['', '#', '.', '..', 'a\nb', 'x'.repeat(65)])('%j is refused', (given) => {
    expect(pathsOf(() => readOrderId(given))).toEqual(['orderId']);
  });
});

it('a request to adopt may have fields that are undefined, which count as left out', () => {
  const findIntegration = find();
  const request = { orderId: '1', transactionId: crypto.randomUUID(), screenedAt: new Date().toISOString() };
  const missing = { integration: undefined, workflow: undefined, amount: undefined, force: undefined };
  const asked = readAdoptRequest({ ...request, ...missing, gatewayResult: undefined }, findIntegration);
  expect(asked).toStrictEqual(readAdoptRequest(request, findIntegration));
});

describe('the currency of an adopted order', () => {
  const request = { orderId: '1', transactionId: crypto.randomUUID(), screenedAt: new Date().toISOString() };
  const adopted = (fields: object) => readAdoptRequest({ ...request, amount: '20.00', ...fields }, find());

  it.each(['currency_code', 'currencyCode'])('is that of %s, in capital letters', (name) => {
    expect(adopted({ [name]: 'eur' }).transaction).toEqual({ amount: '20.00', currency_code: 'EUR' });
  });

  it('is refused if it is no code, or given twice', () => {
    expect(pathsOf(() => adopted({ currency_code: '€' }))).toEqual(['currency_code']);
    expect(pathsOf(() => adopted({ currency_code: 'EUR', currencyCode: 'USD' }))).toEqual(['currencyCode']);
  });
});

describe('a request to keep a card', () => {
  const preGateway = { workflow: 'pre-gateway' };

  it('is read', () => {
    const request = { orderId: '#1', ...TEST_CARD };
    expect(readCardRequest(request, find(preGateway))).toEqual({
      orderId: '1',
      integration: 'default',
      card: TEST_CARD,
      warnings: [],
    });
    const { cardCode: _none, ...withoutCode } = request;
    const { card, warnings } = readCardRequest(withoutCode, find());
    expect(card).not.toHaveProperty('cardCode');
    expect(warnings).toEqual([]);
    expect(pathsOf(() => readCardRequest(withoutCode, find(preGateway)))).toEqual(['cardCode']);
  });

  it('keeps the card code only before an authorization, by the workflow that it or the integration names, and says so', () => {
    const request = { orderId: '1', ...TEST_CARD };
    const { cardCode: _dropped, ...withoutCode } = TEST_CARD;
    expect(readCardRequest(request, find())).toMatchObject({
      card: withoutCode,
      warnings: [{ path: 'cardCode' }],
    });
    expect(readCardRequest({ ...request, workflow: 'post-acceptance' }, find(preGateway)).card).toEqual(
      withoutCode,
    );
    expect(readCardRequest({ ...request, ...preGateway }, find()).card).toEqual(TEST_CARD);
    expect(pathsOf(() => readCardRequest({ ...request, workflow: 'none' }, find()))).toEqual(['workflow']);
  });

  it('lists every fault without the number', () => {
    const wrong = { cardNumber: '4111111111111112', cardCode: '1', extra: 1 };
    const reading = () => readCardRequest(wrong, find(preGateway));
    expect(pathsOf(reading)).toEqual(['cardCode', 'cardNumber', 'expirationDate', 'extra', 'orderId']);
    expect(JSON.stringify(errorOf(reading).details)).not.toContain('4111');
  });
});
