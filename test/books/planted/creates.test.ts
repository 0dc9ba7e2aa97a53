import { describe, expect, it } from 'vitest';
import { HOUR, MINUTE } from '../../fixtures/policies.ts';
import { aRequest, books, CREATE, START } from '../a-passed-order.ts';
import type { BookedRequest } from '../books.ts';
import { judgeBooks } from '../judge.ts';

const again = (ms: number) => ({ ...CREATE, sentAt: START + ms, endedAt: START + ms + 20 });

describe('a second create', () => {
  const lookUp = aRequest(10_031, { operation: 'status-by-invoice', heard: 'not-found' });
  const createdAgain = (ms: number, ...between: BookedRequest[]) => ({
    requests: [{ ...CREATE, heard: 'unknown' as const }, ...between, again(ms)],
  });

  it.each<[string, ReturnType<typeof createdAgain>]>([
    ['after a create that may have arrived', createdAgain(60)],
    ['after a lookup that came before it may have arrived', createdAgain(11_000, lookUp)],
  ])('is found: %s', (_when, told) => {
    expect(isFound(told)).toBe(true);
  });

  it('may know of the first one’s end before that was noted', () => {
    expect(isFound({ ...createdAgain(11_000, lookUp), world: { notedLateMs: 9 } })).toBe(false);
  });

  it.each([
    ['may forget what was told before a reset to before that', MINUTE, false],
    ['is found where a reset went back to after that', 70 * MINUTE, true],
  ])('%s', (_what, to, found) => {
    const failed = aRequest(HOUR, { decision: 'fail' });
    const requests = [{ ...CREATE, decision: 'error' as const }, failed, again(3 * HOUR)];
    const resets = [{ to: START + to, at: START + 2 * HOUR }];
    expect(isFound({ requests, world: { resets } })).toBe(found);
  });
});

function isFound(told: Parameters<typeof books>[0]): boolean {
  return judgeBooks(books(told)).some(({ kind }) => kind === 'second create');
}
