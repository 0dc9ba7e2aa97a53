import { defaultPayloadConverter } from '@temporalio/common';
import { expect, it } from 'vitest';
import { attributesIn } from '../../src/client/decode.ts';

it.each<[string, Record<string, unknown>, object]>([
  [
    'are read as the server lists them',
    {
      ScreeningPhase: 'review',
      CancelBy: '2026-03-02T10:00:00.123456789Z',
      NeedsAttention: true,
      OrderAmount: 12.5,
      TransactionId: ['t-1'],
      CustomKeyword: 'of another product',
    },
    {
      phase: 'review',
      cancelBy: '2026-03-02T10:00:00.123Z',
      needsAttention: true,
      amount: 12.5,
      transactionId: ['t-1'],
    },
  ],
  [
    'that are missing or unknown are left out',
    { ScreeningPhase: 'paused', CancelBy: 'soon', OrderAmount: 'much', TransactionId: 7 },
    { transactionId: [] },
  ],
])('search attributes %s', (_how, listed, read) => {
  const fields = Object.entries(listed).map(([name, value]) => [
    name,
    defaultPayloadConverter.toPayload(value),
  ]);
  expect(attributesIn(Object.fromEntries(fields))).toEqual(read);
});
