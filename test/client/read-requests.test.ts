import { describe, expect, it } from 'vitest';
import { readCardRequest, readOrderId, readScreenRequest } from '../../src/client/read-requests.ts';
import { startRefusal } from '../../src/orders/check-messages.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anIntegration } from '../fixtures/integrations.ts';
import { aPreGatewayTransaction, aTransaction, TEST_CARD } from '../fixtures/transactions.ts';

const find = (settings = {}) => {
  const integration = anIntegration(settings);
  return (name: string) => (name === 'default' ? integration : undefined);
};

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
    const request = readScreenRequest({ orderId: '#1001', transaction: aTransaction() }, find());
    expect(request).toMatchObject({
      orderId: '1001',
      attempt: 1,
      workflow: 'pre-acceptance',
      workflowNamed: false,
      invoiceNumber: '1001',
      facts: { amount: 125.5, currency: 'USD' },
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  // What passes here and not there starts an order that fails, and its id is taken for good.
  it.each(['cardNumber', 'card_code', 'nf-token'])(
    'is refused where the order’s workflow would refuse it: a field %s',
    (name) => {
      const transaction = aTransaction({ subscriptionDetails: { plan: { [name]: 'x' } } });
      const input = { orderId: '1', transaction };
      expect(startRefusal(input, 'order:default:1')).toMatchObject({ code: 'card-data-in-request' });
      const paths = pathsOf(() => readScreenRequest(input, find()));
      expect(paths).toEqual([`transaction.subscriptionDetails.plan.${name}`]);
    },
  );

  it.each([' ', '# \u00a0'])('is refused with an id that is blank: %j', (orderId) => {
    const errors = errorOf(() => readScreenRequest({ orderId, transaction: aTransaction() }, find())).details;
    expect(errors.errors).toEqual([{ path: 'orderId', message: 'must not be blank' }]);
  });

  it('is refused where the order’s workflow would refuse it: an id with a second #', () => {
    const transaction = aTransaction();
    expect(startRefusal({ orderId: '#1', transaction }, 'order:default:#1')).toMatchObject({
      errors: [{ path: 'orderId' }],
    });
    expect(pathsOf(() => readScreenRequest({ orderId: '##1', transaction }, find()))).toEqual(['orderId']);
  });

  it('is refused where the order’s workflow would refuse it: a transaction of more than 256 KiB', () => {
    const transaction = aTransaction({ order: { referring_url: 'x'.repeat(256 * 1024) } });
    expect(startRefusal({ orderId: '1', transaction }, 'order:default:1')).toMatchObject({
      errors: [{ path: 'transaction' }],
    });
    expect(pathsOf(() => readScreenRequest({ orderId: '1', transaction }, find()))).toEqual(['transaction']);
  });

  it('keeps an invoice number of its own', () => {
    const transaction = aTransaction({ order: { invoiceNumber: '#A-7' } });
    expect(readScreenRequest({ orderId: '1', transaction }, find()).invoiceNumber).toBe('A-7');
  });

  it('has the full card data apart, and the same fingerprint for the same card', () => {
    const read = (card: object) =>
      readScreenRequest(
        {
          orderId: '1',
          workflow: 'pre-gateway',
          transaction: aPreGatewayTransaction({ payment: { creditCard: { ...TEST_CARD, ...card } } }),
        },
        find(),
      );
    const request = read({});
    expect(request.card).toEqual(TEST_CARD);
    expect(JSON.stringify(request.transaction)).not.toMatch(/4111111111111111|cardCode|expirationDate/);
    expect(read({ cardCode: '999' }).fingerprint).toBe(request.fingerprint);
    expect(read({ cardNumber: '5424000000000015' }).fingerprint).not.toBe(request.fingerprint);
  });

  it('lists faults of the request and of the transaction together', () => {
    const transaction = aTransaction({ amount: '-1' });
    const raw = { orderId: 'x'.repeat(65), attempt: 1.5, workflow: 'later', extra: 1, transaction };
    expect(pathsOf(() => readScreenRequest(raw, find()))).toEqual(
      ['attempt', 'extra', 'orderId', 'transaction.amount', 'workflow'].sort(),
    );
  });

  it.each([undefined, null, 7, 'text', []])('is refused when it is %o', (raw) => {
    expect(pathsOf(() => readScreenRequest(raw, find()))).toEqual(['orderId', 'transaction']);
  });

  it('for an integration that is none is refused as such', () => {
    const raw = { orderId: '1', integration: 'nope', transaction: aTransaction() };
    expect(errorOf(() => readScreenRequest(raw, find())).code).toBe('unknown-integration');
  });

  it('may lack what a screening needs when policy skips the order', () => {
    const skip = [{ paymentMethod: ['gift card'] }];
    const transaction = { amount: '20.00', payment: { method: 'gift card' } };
    const request = readScreenRequest({ orderId: '1', transaction }, find({ skip }));
    expect(request.transaction).toEqual(transaction);
    expect(request.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(pathsOf(() => readScreenRequest({ orderId: '1', transaction }, find()))).toContain(
      'transaction.billTo',
    );
  });

  it('has no full card data even when policy skips the order', () => {
    const transaction = {
      amount: '20.00',
      payment: { method: 'gift card', creditCard: { cardCode: '123' } },
    };
    const read = () =>
      readScreenRequest({ orderId: '1', transaction }, find({ skip: [{ amountBelow: 50 }] }));
    expect(errorOf(read).code).toBe('invalid-request');
  });
});

describe('an order id', () => {
  it.each([
    ['#1001', '1001'],
    ['1001', '1001'],
    ['a/b c', 'a/b c'],
    ['注'.repeat(64), '注'.repeat(64)],
  ])('%s is kept as %s', (given, kept) => {
    expect(readOrderId(given)).toBe(kept);
  });

  it.each(['', '#', '.', '..', 'a\nb', 'x'.repeat(65)])('%j is refused', (given) => {
    expect(pathsOf(() => readOrderId(given))).toEqual(['orderId']);
  });
});

describe('a request to keep a card', () => {
  it('is read', () => {
    expect(readCardRequest({ orderId: '#1', ...TEST_CARD }, find())).toEqual({
      orderId: '1',
      integration: 'default',
      card: TEST_CARD,
    });
    const { cardCode: _none, ...withoutCode } = TEST_CARD;
    expect(readCardRequest({ orderId: '#1', ...withoutCode }, find()).card).toEqual(withoutCode);
    const read = () => readCardRequest({ orderId: '#1', ...withoutCode }, find({ workflow: 'pre-gateway' }));
    expect(pathsOf(read)).toEqual(['cardCode']);
  });

  it('lists every fault without the number', () => {
    const wrong = { cardNumber: '4111111111111112', cardCode: '1', extra: 1 };
    const read = () => readCardRequest(wrong, find({ workflow: 'pre-gateway' }));
    expect(pathsOf(read)).toEqual(['cardCode', 'cardNumber', 'expirationDate', 'extra', 'orderId']);
    expect(JSON.stringify(errorOf(read).details)).not.toContain('4111');
  });
});
