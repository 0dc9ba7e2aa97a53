import { describe, expect, it } from 'vitest';
import type { ChargebackRequest, PortalFields } from '../../src/contract/messages.ts';
import { earlier, subjectOf } from '../../src/orders/portal-requests.ts';
import { addAttempt } from '../../src/orders/record.ts';
import { anOrder, answered, HOUR, MINUTE, screen, sinceStart, TRANSACTION_ID } from '../fixtures/orders.ts';
import { type Life, screened, told } from './life.ts';

const CHARGEBACK = { kind: 'chargeback', reason_code: '10.4', due_date: '2026-04-01' } as const;

function same(one: PortalFields, other: PortalFields): boolean {
  const order = anOrder('pass');
  return subjectOf(order, one) === subjectOf(order, other);
}

describe('the same portal action', () => {
  it('is a cancel or a fraud report of the same transaction, whatever the reason', () => {
    for (const kind of ['cancel', 'report-fraud'] as const) {
      expect(same({ kind }, { kind, reason: 'why' })).toBe(true);
      expect(same({ kind }, { kind, transactionId: TRANSACTION_ID })).toBe(true);
      expect(same({ kind }, { kind, transactionId: 'another' })).toBe(false);
    }
    expect(same({ kind: 'cancel' }, { kind: 'report-fraud' })).toBe(false);
  });

  it('is not that of the attempt before', () => {
    const order = anOrder('fail');
    const before = subjectOf(order, { kind: 'cancel' });
    addAttempt(order, {}, sinceStart(0));
    screen(order, answered('pass', 'second'));
    expect(subjectOf(order, { kind: 'cancel' })).not.toBe(before);
    expect(subjectOf(order, { kind: 'cancel', transactionId: TRANSACTION_ID })).toBe(before);
  });

  it('is a customer code of the same code and e-mail', () => {
    const code = { kind: 'customer-code', customerCode: 'c-1', email: 'jane@example.com' } as const;
    expect(same(code, { ...code })).toBe(true);
    expect(same(code, { ...code, email: 'john@example.com' })).toBe(false);
    expect(same(code, { ...code, customerCode: 'c-2' })).toBe(false);
  });

  it('is a customer code with the order’s own e-mail as one without; another attempt may have another e-mail', () => {
    const code = { kind: 'customer-code', customerCode: 'c-1' } as const;
    const ask = (life: Life, fields: PortalFields) => life.ask({ kind: 'portal', fields }, MINUTE);
    const sent = (life: Life) => life.order.state.actions.length;
    const life = screened('pass');
    ask(life, code);
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, MINUTE);
    const again = ask(life, { ...code, email: 'jane@example.com' });
    expect([sent(life), told(life, again)]).toEqual([1, 'done']);
    ask(life, { ...code, email: 'john@example.com' });
    expect(sent(life)).toBe(2);
    expect(JSON.stringify(life.order.state)).not.toContain('jane@');

    const retried = screened('fail');
    ask(retried, code);
    retried.ask(
      { kind: 'retry', request: { attempt: 2, transaction: { customer: { email: 'jo@example.com' } } } },
      MINUTE,
    );
    ask(retried, { ...code, email: 'jo@example.com' });
    expect(sent(retried)).toBe(2);
  });

  const others: Partial<ChargebackRequest>[] = [
    { reason_code: '10.5' },
    { due_date: '2026-04-02' },
    { notice_date: '2026-03-01' },
    { reference_number: 'r-1' },
    { carrier: 'A' },
    { carrier_tracking_number: 'n-1' },
    { notes: 'seen' },
    { inquiry: 'true' },
    { transactionId: 'another' },
  ];
  it.each(others)('is not a chargeback with %j', (other) => {
    expect(same(CHARGEBACK, { ...CHARGEBACK, ...other })).toBe(false);
  });

  it('is a chargeback of which the inquiry is absent, null or false, and which force says to send', () => {
    expect(same(CHARGEBACK, { ...CHARGEBACK, inquiry: 'false' })).toBe(true);
    const said: PortalFields = JSON.parse(
      '{"kind":"chargeback","reason_code":"10.4","due_date":"2026-04-01","inquiry":null,"notes":null}',
    );
    expect(same(CHARGEBACK, said)).toBe(true);
    expect(same(CHARGEBACK, { ...CHARGEBACK, force: true })).toBe(true);
  });

  it('is not mistaken for one whose fields read alike when they are put together', () => {
    expect(
      same({ ...CHARGEBACK, carrier: 'a,b' }, { ...CHARGEBACK, carrier: 'a', carrier_tracking_number: 'b' }),
    ).toBe(false);
  });
});

describe('another submission of the same chargeback', () => {
  it('with other evidence is sent, and shown beside the first', () => {
    const life = screened('pass');
    life.ask({ kind: 'portal', fields: CHARGEBACK }, HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, HOUR);
    life.ask({ kind: 'portal', fields: { ...CHARGEBACK, notes: 'a receipt' } }, HOUR);
    expect(life.order.state.actions).toMatchObject([{ status: 'done' }, { status: 'running' }]);
    expect(earlier(life.order.state, CHARGEBACK)?.number).toBe(1);
  });
});
