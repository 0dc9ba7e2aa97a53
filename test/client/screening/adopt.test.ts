/** What the client library asks Temporal when an order is adopted. */
import { describe, expect, it } from 'vitest';
import { orderAttributes } from '../../../src/order/view/search-attributes.ts';
import { aClosedOrder, CLOSED_TRANSACTION, fromNow, HOUR } from '../../fixtures/orders.ts';
import { created, decidedAs, startSandbox, TEST_KEY } from '../../sandbox/support.ts';
import { aCheckoutAnswer } from '../../server/api/fake-order-screening.ts';
import { aClient, aClientOf } from '../fake-temporal.ts';

const request = { orderId: '#1001', transactionId: CLOSED_TRANSACTION, screenedAt: fromNow(-HOUR) };
const answer = aCheckoutAnswer({ transactionId: CLOSED_TRANSACTION, decision: 'review' });
const fingerprint = 'f00d';

describe('adopting', () => {
  it('starts the order of that id with what is known of its transaction, or asks the one that is there', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, fingerprint });
    // As a plugin may have it: the service is asked for it as it was given.
    const transactionId = CLOSED_TRANSACTION.toUpperCase();
    const asked = { ...request, transactionId, amount: '12.50', force: true };
    expect(await orderScreening.adopt(asked)).toEqual(answer);
    const sent = temporal.executeUpdateWithStart.mock.calls[0]?.[1];
    expect(sent).toMatchObject({
      updateId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      args: [{ type: 'adopt', body: { transactionId } }],
      startWorkflowOperation: {
        options: {
          workflowId: 'order:default:1001',
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          args: [
            {
              orderId: '1001',
              transaction: { amount: '12.50' },
              adopt: { transactionId, screenedAt: request.screenedAt, force: true },
            },
          ],
        },
      },
    });
  });

  it('as a dry run gives the answer of an order that is closed', async () => {
    const { orderScreening } = aClientOf(aClosedOrder({ answer }), 'COMPLETED');
    expect(await orderScreening.adopt(request, { dryRun: true })).toEqual(answer);
  });

  it('as a dry run starts nothing, and needs the key of this process', async () => {
    const { orderScreening, temporal } = aClient({ apiKey: () => undefined });
    await expect(orderScreening.adopt(request, { dryRun: true })).rejects.toMatchObject({
      code: 'screening-service-unavailable',
      message: expect.stringContaining('apiKeyEnv'),
    });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
  });
});

describe('the invoice number of an adopted order', () => {
  it.each([
    [{}, '1001', {}],
    [{ invoiceNumber: '#A-7' }, 'A-7', { order: { invoiceNumber: 'A-7' } }],
  ])(
    'of %j is %s in its first search attributes, and in its transaction',
    async (given, number, transaction) => {
      const { orderScreening, temporal } = aClient();
      temporal.executeUpdateWithStart.mockResolvedValue({ ...answer, fingerprint });
      await orderScreening.adopt({ ...request, ...given });
      const sent = temporal.executeUpdateWithStart.mock.calls[0]?.[1];
      const { name, type } = orderAttributes.invoiceNumber;
      const typedSearchAttributes = expect.arrayContaining([{ key: { name, type }, value: [number] }]);
      const options = { args: [expect.objectContaining({ transaction })], typedSearchAttributes };
      expect(sent).toMatchObject({ startWorkflowOperation: { options } });
    },
  );

  it('is that by which a dry run looks the transaction up', async () => {
    const sandbox = await startSandbox();
    const transactionId = await created(sandbox, decidedAs('review'));
    await created(sandbox, { ...decidedAs('pass'), order: { invoiceNumber: '1001' } });
    const { orderScreening } = aClient({ baseUrl: sandbox.testBaseUrl, apiKey: () => TEST_KEY });
    const tried = (given: object) =>
      orderScreening.adopt({ ...request, transactionId, ...given }, { dryRun: true });
    await expect(tried({})).rejects.toMatchObject({ code: 'invoice-mismatch' });
    expect(await tried({ invoiceNumber: '#A-1' })).toMatchObject({ decision: 'review', transactionId });
    const mismatch = tried({ orderId: 'A-1', invoiceNumber: '1001' });
    await expect(mismatch).rejects.toMatchObject({ code: 'invoice-mismatch' });
  });
});

describe('a request to adopt', () => {
  it.each([
    ['screenedAt', { screenedAt: '2026-01-31T12:00:00' }],
    ['screenedAt', { screenedAt: '2026-01-31T12:00:00+02:00' }],
    ['screenedAt', { screenedAt: fromNow(HOUR) }],
    ['transactionId', { transactionId: '4711' }],
    ['invoiceNumber', { invoiceNumber: '' }],
    ['invoiceNumber', { invoiceNumber: '##A-7' }],
    ['invoiceNumber', { invoiceNumber: '..' }],
    ['invoiceNumber', { invoiceNumber: 'x'.repeat(65) }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: 12.5 }],
    ['gatewayResult', { gatewayResult: 'pass' }],
    ['gatewayResult', { workflow: 'pre-gateway' }],
    ['unheard', { unheard: true }],
  ])('is refused with a fault in %s: %j', async (path, fault) => {
    const { orderScreening, temporal } = aClient();
    await expect(orderScreening.adopt({ ...request, ...fault })).rejects.toMatchObject({
      code: 'invalid-request',
      details: { errors: [{ path, message: expect.stringMatching(/^(must|is) /) }] },
    });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
  });
});
