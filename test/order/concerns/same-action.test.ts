import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../../src/contract/messages.ts';
import { subjectOf } from '../../../src/order/portal/portal-requests.ts';
import { anOrder, PORTAL_ACTIONS, TRANSACTION_ID } from '../../fixtures/orders.ts';
import { screened } from '../life.ts';

const { cancel: CANCEL, 'report-fraud': REPORT, chargeback: CHARGEBACK } = PORTAL_ACTIONS;
const CODE = { ...PORTAL_ACTIONS['customer-code'], email: 'jane@example.com' } as const;
const OTHER_CODE = { ...CODE, email: 'john@example.com' } as const;

describe('the same portal action', () => {
  it.each<[boolean, string, PortalFields, PortalFields]>([
    [true, 'is a cancel of the same transaction, whatever the reason', CANCEL, { ...CANCEL, reason: 'why' }],
    [true, 'is a cancel that names it', CANCEL, { ...CANCEL, transactionId: TRANSACTION_ID }],
    [false, 'is no cancel of another', CANCEL, { ...CANCEL, transactionId: 'another' }],
    [true, 'is a fraud report of it', REPORT, { ...REPORT, transactionId: TRANSACTION_ID, reason: 'why' }],
    [false, 'is no fraud report of another', REPORT, { ...REPORT, transactionId: 'another' }],
    [false, 'is of the same kind', CANCEL, REPORT],
    [true, 'is a customer code of the same code and e-mail', CODE, { ...CODE }],
    [false, 'is no customer code of another e-mail', CODE, OTHER_CODE],
    [false, 'is no other customer code', CODE, { ...CODE, customerCode: 'c-2' }],
    [true, 'is a chargeback without an inquiry', CHARGEBACK, { ...CHARGEBACK, inquiry: 'false' }],
    [true, 'is a chargeback whose force says to send', CHARGEBACK, { ...CHARGEBACK, force: true }],
    [
      false,
      'is not mistaken for one whose fields read alike when they are put together',
      { ...CHARGEBACK, carrier: 'a,b' },
      { ...CHARGEBACK, carrier: 'a', carrier_tracking_number: 'b' },
    ],
    ...[
      { reason_code: '10.5' },
      { due_date: '2026-04-02' },
      { notice_date: '2026-03-01' },
      { reference_number: 'r-1' },
      { carrier: 'A' },
      { carrier_tracking_number: 'n-1' },
      { notes: 'seen' },
      { inquiry: 'true' as const },
      { transactionId: 'another' },
    ].map((other): [boolean, string, PortalFields, PortalFields] => [
      false,
      `is not a chargeback with another ${Object.keys(other)}`,
      CHARGEBACK,
      { ...CHARGEBACK, ...other },
    ]),
  ])('%s: it %s', (same, _what, one, other) => {
    const order = anOrder('pass');
    expect(subjectOf(order, one) === subjectOf(order, other)).toBe(same);
  });

  it('is a customer code with the order’s own e-mail as one without; another attempt may have another e-mail', () => {
    const life = screened('pass').portal('customer-code').portalEnds('done').portal(CODE);
    expect(life).toMatchObject({ told: ['done', 'done'], actions: ['done'] });
    expect(life.portal(OTHER_CODE).actions).toHaveLength(2);
    expect(JSON.stringify(life.state)).not.toContain('jane@');
    const customer = { email: OTHER_CODE.email };
    const retried = screened('fail').portal('customer-code', 0).retry(2, 0, { customer });
    expect(retried.portal(OTHER_CODE, 0).actions).toHaveLength(2);
  });
});
