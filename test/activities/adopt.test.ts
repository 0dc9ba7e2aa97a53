/** What is read of a transaction before an order adopts it. */
import { describe, expect, it } from 'vitest';
import type { Adoption } from '../../src/contract/state.ts';
import { MACHINE, type Machine } from '../../src/screening/index.ts';
import {
  aCheckout,
  aWorld,
  checkOut,
  expectNoSecret,
  fromNow,
  ORDER_ID,
  refusalOf,
  requests,
  sandbox,
  screened,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

const HOUR = 3_600_000;
const world = () => aWorld({ reviewLimitMs: 30 * 24 * HOUR });

type Asked = [
  transactionId: string,
  adoption?: Partial<Adoption>,
  invoiceNumber?: string,
  of?: ReturnType<typeof world>,
];
const adoption = (...[transactionId, changes = {}, invoiceNumber = ORDER_ID]: Asked) =>
  aCheckout('pass', {
    transaction: {},
    invoiceNumber,
    adopt: { transactionId, screenedAt: fromNow(-HOUR), ...changes },
  });
const adopt = (...asked: Asked) => checkOut(asked[3] ?? world(), adoption(...asked));
const refusal = (...asked: Asked) => refusalOf(asked[3] ?? world(), adoption(...asked));

describe('a transaction that is adopted', () => {
  it('is read, with the policy in force, and nothing is created', async () => {
    const transactionId = await screened(world(), 'review');
    const found = await adopt(transactionId);
    expect(found.outcome).toMatchObject({ kind: 'answered', transactionId, decision: 'review', found: true });
    expect(found.policy.workflow).toBe('pre-acceptance');
    expect(requests('create-transaction')).toBe(1);
    expectNoSecret(found);
  });

  it('needs no invoice number that leads to it, but none that leads to another one without force', async () => {
    const transactionId = await screened(world(), 'review');
    await sandbox.control.decide(transactionId, 'pass');
    expect((await adopt(transactionId, {}, 'unknown-invoice')).outcome).toMatchObject({ decision: 'pass' });
    await checkOut(world(), aCheckout('pass', { orderId: 'B-1', invoiceNumber: 'B-1' }));
    expect(await refusal(transactionId, {}, 'B-1')).toMatchObject({ code: 'invoice-mismatch' });
    expect((await adopt(transactionId, { force: true }, 'B-1')).outcome).toMatchObject({ transactionId });
  });

  it('is refused where the service answers about another one', async () => {
    const transactionId = await screened(world(), 'pass');
    const fetch: Machine['fetch'] = (url, request) =>
      MACHINE.fetch(url.replace(UNKNOWN_ID, transactionId), request);
    const asking = aWorld({ reviewLimitMs: 30 * 24 * HOUR }, { machine: { ...MACHINE, fetch } });
    const refused = await refusal(UNKNOWN_ID, { force: true }, ORDER_ID, asking);
    expect(refused).toMatchObject({ code: 'screening-service-unavailable' });
    expect(refused.message).toContain('a different transaction');
  });

  it('that the service does not know, or that is in error, is refused', async () => {
    expect(await refusal(UNKNOWN_ID)).toMatchObject({ code: 'unknown-transaction' });
    const transactionId = await screened(world(), 'error');
    expect(await refusal(transactionId)).toMatchObject({ code: 'transaction-without-decision' });
  });

  it.each([
    ['unknown-decision', 'transaction-without-decision'],
    ['5xx-before-commit', 'screening-service-unavailable'],
    ['reset-before-commit', 'screening-service-unavailable'],
  ] as const)('is refused when its status is answered by %s', async (kind, code) => {
    const transactionId = await screened(world(), 'review');
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-url', kind }] });
    expect(await refusal(transactionId)).toMatchObject({ code });
  });

  it('is refused with a wrong key, and when the invoice number can’t be looked up', async () => {
    const transactionId = await screened(world(), 'review');
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: '5xx-before-commit' }] });
    expect(await refusal(transactionId)).toMatchObject({ code: 'screening-service-unavailable' });
    const wrong = aWorld({ reviewLimitMs: HOUR * 2, apiKey: () => 'canary-wrong-key' });
    expect(await refusal(transactionId, {}, ORDER_ID, wrong)).toMatchObject({
      code: 'screening-service-unavailable',
    });
  });

  it('that breaks a rule of the policy isn’t read', async () => {
    expect(await refusal(UNKNOWN_ID, { screenedAt: fromNow(-31 * 24 * HOUR) })).toMatchObject({
      code: 'invalid-request',
    });
    expect(requests('status-by-url')).toBe(0);
  });
});
