import { expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../fixtures/policies.ts';
import { anAnswer, aRequest, books, CREATE, START } from '../a-passed-order.ts';
import { attention } from './attention.ts';

test('after a person decided, a 403 need not be shown of a read, but of a portal action that is tried again', () => {
  const person = { asks: 'override', action: 'proceed', taken: true, cancels: false } as const;
  const found = (operation: 'status' | 'customer-code') => {
    const requests = [
      CREATE,
      aRequest(HOUR, { operation, heard: 'forbidden' }),
      aRequest(2 * HOUR, { operation }),
    ];
    const calls = [anAnswer(80), { ...person, sentAt: START + MINUTE, at: START + MINUTE + 10 }];
    const shown = [{ at: START + HOUR + MINUTE, phase: 'decided', attention: [] }];
    return attention(books({ requests, calls, shown })).map(({ kind }) => kind);
  };
  expect(found('status')).not.toContain('attention missing: wrong-key');
  expect(found('customer-code')).toContain('attention missing: wrong-key');
});
