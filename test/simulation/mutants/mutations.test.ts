import { describe, expect, it } from 'vitest';
import { live } from '../live.ts';
import { planLife } from '../plan/plan-life.ts';
import { BOOK_MUTANTS } from './book-mutants.ts';
import { MUTANTS, NOTHING } from './mutants.ts';

const WITHIN = 10_000;

/** Where to start the search for a rare fault: the first life that shows it, and the trouble to add to each life. */
const RARE: Readonly<Record<string, { seed: number; trouble?: string }>> = {
  'a review that comes back is ignored': { seed: 5175 },
  'the outcome of a canceled write is dropped': { seed: 3540 },
  'a hint while a read runs is dropped': { seed: 417 },
  'an override gives up a cancel that was sent': { seed: 1, trouble: 'overridden-cancel' },
  'continue-as-new drops an earlier reset': { seed: 1989 },
  'continue-as-new drops a pending read': { seed: 1178 },
  'a recheck that is dropped': { seed: 494 },
  'a hint while an order is screened is dropped': { seed: 31, trouble: 'decided-early' },
  'a read that fails for good is not tried again': { seed: 5796, trouble: 'end-by-hand' },
  'a failed portal action forgets that it may have been sent': { seed: 8100, trouble: 'end-by-hand' },
  'a pass is not read again after an answer without a decision': { seed: 990_003_930 },
  'after the end an earlier attempt gets the order’s action': { seed: 1, trouble: 'decided-late' },
  'after the end an attempt’s earlier transaction keeps the action of the end': {
    seed: 1,
    trouble: 'decided-late',
  },
  'after the end only the newest transaction is read': { seed: 1, trouble: 'decided-late' },
};

describe('a planted fault is found', () => {
  it.each([...MUTANTS, ...BOOK_MUTANTS])('$what', async ({ what, rules }) => {
    const { seed: first, trouble } = RARE[what] ?? { seed: 1 };
    let lives = 0;
    let found = false;
    while (!found && lives < WITHIN) {
      found =
        (await live(planLife(first + lives, trouble === undefined ? [] : [trouble]), { rules })).faults
          .length > 0;
      lives += 1;
    }
    expect(found, `in ${lives} lives from seed ${first}`).toBe(true);
  });

  it.each(NOTHING)('but not a change of nothing in $what', async ({ rules }) => {
    for (let seed = 1; seed <= 200; seed += 1)
      expect((await live(planLife(seed), { rules })).faults).toEqual([]);
  });
});
