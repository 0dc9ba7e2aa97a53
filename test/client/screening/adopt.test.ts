/** What the client library asks Temporal when an order is adopted. */
import { describe, expect, it } from 'vitest';
import { aClosedOrder, CLOSED_TRANSACTION, HOUR } from '../../fixtures/orders.ts';
import { aCheckoutAnswer } from '../../server/api/fake-order-screening.ts';
import { aClient, aClientOf } from '../fake-temporal.ts';

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const request = { orderId: '#1001', transactionId: CLOSED_TRANSACTION, screenedAt: ago(HOUR) };
const { fingerprint, ...answer } = aCheckoutAnswer({ transactionId: CLOSED_TRANSACTION, decision: 'review' });

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

describe('a request to adopt', () => {
  it.each([
    ['screenedAt', { screenedAt: '2026-01-31T12:00:00' }],
    ['screenedAt', { screenedAt: '2026-01-31T12:00:00+02:00' }],
    ['screenedAt', { screenedAt: ago(-HOUR) }],
    ['transactionId', { transactionId: '4711' }],
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
