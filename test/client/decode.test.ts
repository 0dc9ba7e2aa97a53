import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { describe, expect, it } from 'vitest';
import { attributesIn } from '../../src/client/decode.ts';
import { msOf } from '../../src/client/describe-order.ts';

const fields = (values: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, defaultPayloadConverter.toPayload(value)]),
  );

describe('search attributes', () => {
  it('are read as the server lists them', () => {
    const listed = fields({
      ScreeningPhase: 'review',
      CancelBy: '2026-03-02T10:00:00.123456789Z',
      NeedsAttention: true,
      OrderAmount: 12.5,
      TransactionId: ['t-1'],
      CustomKeyword: 'of another product',
    });
    expect(attributesIn(listed)).toEqual({
      phase: 'review',
      cancelBy: '2026-03-02T10:00:00.123Z',
      needsAttention: true,
      amount: 12.5,
      transactionId: ['t-1'],
    });
  });

  it('that are missing or unknown are undefined', () => {
    expect(attributesIn(undefined)).toEqual({ transactionId: [] });
    const odd = fields({ ScreeningPhase: 'paused', CancelBy: 'soon', OrderAmount: 'much', TransactionId: 7 });
    expect(attributesIn(odd)).toEqual({ transactionId: [] });
  });
});

it.each([0, 1, 999, 1_772_445_600_123])('%i ms of Temporal’s API are read as they are written', (ms) => {
  expect(msOf(msToTs(ms))).toBe(ms);
});
