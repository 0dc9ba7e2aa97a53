import { describe, expect, it } from 'vitest';
import { SHOWN_FIELDS, type ShownField } from '../../../src/contract/policy.ts';
import { aClosedOrder } from '../../fixtures/orders.ts';
import { anAddress, aPreGatewayTransaction, aTransaction } from '../../fixtures/transactions.ts';
import { aClientOf, ENCRYPTED, startedWith, unavailable } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
const ALL = {
  attempt: 1,
  name: 'Ada Example',
  email: 'pass@example.com',
  billTo: { ...anAddress(), phoneNumber: '+1 212 555 0100' },
  shipTo: anAddress(),
  avs: 'Y',
  cvv: 'M',
  items: [{ sku: 'sku-1', name: 'Walking boots', category: 'shoes', price: 60, quantity: 2 }],
};

function aClientThatShows(shown: readonly ShownField[], input: object = { transaction: aTransaction() }) {
  const client = aClientOf(aClosedOrder(), 'COMPLETED', {}, { shown: [...shown] });
  client.temporal.fetchHistory.mockResolvedValue(startedWith(input));
  const full = async () => (await client.orderScreening.get(order, { view: 'full' })).shown;
  return { ...client, full };
}

describe('the fields of the order’s own transaction', () => {
  it('are in the full view as far as the policy names them', async () => {
    expect(await aClientThatShows(SHOWN_FIELDS).full()).toEqual(ALL);
    expect(await aClientThatShows(['email', 'cvv']).full()).toEqual({
      attempt: 1,
      email: ALL.email,
      cvv: 'M',
    });
  });

  it('are not in the record, and without the policy nobody reads them', async () => {
    const shows = aClientThatShows(SHOWN_FIELDS);
    expect(await shows.orderScreening.get(order)).not.toHaveProperty('shown');
    const { full, temporal } = aClientThatShows([]);
    expect(await full()).toBeUndefined();
    expect(temporal.fetchHistory).not.toHaveBeenCalled();
  });

  it('never have card data, nor a field that is not listed', async () => {
    const transaction = { ...aPreGatewayTransaction(), userFields: { secret: 'secret' } };
    const billTo = { ...anAddress(), cardNumber: '4111111111111111' };
    const shown = await aClientThatShows(SHOWN_FIELDS, { transaction: { ...transaction, billTo } }).full();
    expect(Object.keys(shown ?? {})).toEqual(['attempt', 'name', 'email', 'billTo', 'shipTo', 'items']);
    expect(JSON.stringify(shown)).not.toMatch(/4111|secret|123|2034/);
  });

  it('are those of the newest attempt, after continue-as-new', async () => {
    const asked = { transaction: aTransaction({ avsResultCode: 'N' }) };
    const input = { transaction: {}, resume: { asked, state: { attempts: [{}, {}] } } };
    expect(await aClientThatShows(['avs'], input).full()).toEqual({ attempt: 2, avs: 'N' });
  });

  it.each([
    ['can’t be decrypted', async () => startedWith(ENCRYPTED)],
    ['is no order’s', async () => startedWith({ transaction: { billTo: 'x' } })],
    ['is gone', async () => ({ events: [] })],
    ['can’t be read', () => Promise.reject(unavailable)],
  ])('are left out if the input %s, and the order is read all the same', async (_what, history) => {
    const { orderScreening, temporal } = aClientThatShows(SHOWN_FIELDS);
    temporal.fetchHistory.mockImplementation(history);
    const full = await orderScreening.get(order, { view: 'full' });
    expect(full).toMatchObject({ phase: 'closed' });
    expect(full).not.toHaveProperty('shown');
  });
});
