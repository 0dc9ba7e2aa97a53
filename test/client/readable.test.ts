import { expect, it } from 'vitest';
import { sendUpdate } from '../../src/client/order-messages.ts';
import { readable } from '../../src/client/temporal-errors.ts';
import { REFUSED_PAYLOAD } from '../../src/contract/words.ts';

const marked = `${REFUSED_PAYLOAD}A payload is not valid JSON`;

it('an answer that nobody can read is an error that says why, and not an answer', async () => {
  expect(() => readable(marked)).toThrow(
    expect.objectContaining({
      code: 'temporal-unavailable',
      message: 'The order’s answer cannot be read: A payload is not valid JSON',
    }),
  );
  await expect(sendUpdate('decision-1', async () => marked)).rejects.toThrow('cannot be read');
  expect(readable({ phase: 'review' })).toEqual({ phase: 'review' });
});
