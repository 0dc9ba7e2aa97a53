import { defaultPayloadConverter } from '@temporalio/common';
import { expect, it } from 'vitest';
import { attributesIn } from '../../../src/client/reading/decode.ts';

it('search attributes that another release may have written are left out', () => {
  const written = { ScreeningPhase: 'paused', CancelBy: 'soon', OrderAmount: 'much', TransactionId: 7 };
  const fields = Object.entries(written).map(([name, value]) => [
    name,
    defaultPayloadConverter.toPayload(value),
  ]);
  expect(attributesIn(Object.fromEntries(fields))).toEqual({ transactionId: [], invoiceNumber: [] });
});
