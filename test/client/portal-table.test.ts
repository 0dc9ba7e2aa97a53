import { describe, expect, it } from 'vitest';
import { portalDefinition } from '../../src/contract/portal-actions.ts';
import { contentOf, PORTAL_ACTIONS, PORTAL_KINDS } from '../../src/contract/portal-kinds.ts';
import { MESSAGES } from '../../src/orders/message-shapes.ts';
import { misfits } from '../../src/orders/shapes.ts';

describe('the table of portal actions', () => {
  it.each(PORTAL_ACTIONS)(
    'has the same fields for people and for an order, and an example of both: %s',
    (kind) => {
      const { schema, example } = portalDefinition(kind);
      expect(Object.keys(schema.shape).sort()).toEqual(Object.keys(PORTAL_KINDS[kind].fields).sort());
      expect(schema.safeParse(example).success).toBe(true);
      expect(misfits(example, MESSAGES[kind])).toEqual([]);
    },
  );

  it('keeps the fields of each identity in the order that histories have', () => {
    expect(Object.fromEntries(PORTAL_ACTIONS.map((kind) => [kind, contentOf(kind).join(' ')]))).toEqual({
      cancel: '',
      'report-fraud': '',
      chargeback:
        'reason_code due_date notice_date reference_number carrier carrier_tracking_number notes inquiry',
      'customer-code': 'customerCode email',
    });
  });
});
