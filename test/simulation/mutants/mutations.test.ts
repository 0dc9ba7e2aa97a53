import { describe, expect, it } from 'vitest';
import { live } from '../live.ts';
import { planLife } from '../plan/plan-life.ts';
import { BOOK_MUTANTS } from './book-mutants.ts';
import { MUTANTS, NOTHING } from './mutants.ts';

const WITHIN = 10_000;

/** Where to start the search for a rare fault: the first life that shows it, and the trouble to add to each life. */
const RARE: Readonly<Record<string, { seed: number; trouble?: string }>> = {
  'cancel missing: a review that comes back is ignored': { seed: 5175 },
  'phase wrong: the outcome of a canceled write is dropped': { seed: 3540 },
  'the history does not replay: a hint while a read runs is dropped': { seed: 417 },
  'cancel given up: an override gives up a cancel that was sent': { seed: 1, trouble: 'overridden-cancel' },
  'second create: continue-as-new drops an earlier reset': { seed: 1989 },
  'read owed: continue-as-new drops a pending read': { seed: 1178 },
  'read owed: recheck: a recheck that is dropped': { seed: 494 },
  'read owed: a hint while an order is screened is dropped': { seed: 31, trouble: 'decided-early' },
  'read owed: a read that fails for good is not tried again': { seed: 5796, trouble: 'end-by-hand' },
  'done and denied: a failed portal action forgets that it may have been sent': {
    seed: 8100,
    trouble: 'end-by-hand',
  },
  'read owed: a pass is not read again after an answer without a decision': { seed: 990_003_930 },
  'event wrong: after the end an earlier attempt gets the order’s action': {
    seed: 1,
    trouble: 'decided-late',
  },
  'event wrong: after the end an attempt’s earlier transaction keeps the action of the end': {
    seed: 1,
    trouble: 'decided-late',
  },
  'late decision untold: after the end only the newest transaction is read': {
    seed: 1,
    trouble: 'decided-late',
  },
};

describe('a planted fault is found as what it is', () => {
  it.each([...MUTANTS, ...BOOK_MUTANTS])('$what', async ({ what, rules }) => {
    const { seed: first, trouble } = RARE[what] ?? { seed: 1 };
    const kind = what.slice(0, what.lastIndexOf(': '));
    let lives = 0;
    let found = false;
    while (!found && lives < WITHIN) {
      const life = planLife(first + lives, trouble === undefined ? [] : [trouble]);
      found = (await live(life, { rules })).faults.some((fault) => fault.includes(kind));
      lives += 1;
    }
    expect(found, `in ${lives} lives from seed ${first}`).toBe(true);
  });

  it.each(NOTHING)('but not a change of nothing in $what', async ({ rules }) => {
    for (let seed = 1; seed <= 200; seed += 1)
      expect((await live(planLife(seed), { rules })).faults).toEqual([]);
  });
});
