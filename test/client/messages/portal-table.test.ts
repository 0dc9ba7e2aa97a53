import { expect, it } from 'vitest';
import { contentOf, PORTAL_ACTIONS } from '../../../src/contract/portal/portal-kinds.ts';

it('the fields that tell portal actions apart stay in the order that histories have', () => {
  expect(Object.fromEntries(PORTAL_ACTIONS.map((kind) => [kind, contentOf(kind).join(' ')]))).toEqual({
    cancel: '',
    'report-fraud': '',
    chargeback:
      'reason_code due_date notice_date reference_number carrier carrier_tracking_number notes inquiry',
    'customer-code': 'customerCode email',
  });
});
