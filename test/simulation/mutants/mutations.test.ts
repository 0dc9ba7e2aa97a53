import { describe, expect, it } from 'vitest';
import { live } from '../live.ts';
import { planLife } from '../plan/plan-life.ts';
import { BOOK_MUTANTS } from './book-mutants.ts';
import { MUTANTS } from './mutants.ts';

const WITHIN = 10_000;

/** The first life from seed 1 that shows a rare fault: looking for it takes half a minute. After a change of the plans the search goes on from here. */
const RARE: Readonly<Record<string, number>> = {
  'a review that comes back is ignored': 5175,
  'the outcome of a canceled write is dropped': 3540,
  'a hint while a read runs is dropped': 2178,
  'continue-as-new drops an earlier reset': 1989,
  'continue-as-new drops a pending read': 1178,
  'a recheck that is dropped': 494,
  'after the end an earlier attempt gets the order’s action': 796,
  'after the end an attempt’s earlier transaction has an action of its own': 4904,
  'after the end only the newest transaction is read': 1174,
};

describe('a planted fault is found', () => {
  it.each([...MUTANTS, ...BOOK_MUTANTS])('$what', async ({ what, rules }) => {
    const first = RARE[what] ?? 1;
    let lives = 0;
    let found = false;
    while (!found && lives < WITHIN) {
      found = (await live(planLife(first + lives), { rules })).faults.length > 0;
      lives += 1;
    }
    expect(found, `in ${lives} lives from seed ${first}`).toBe(true);
  });

  it('of twenty kinds at least', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(20);
  });

  it('from a seed that belongs to one of them, where it is rare', () => {
    const known = [...MUTANTS, ...BOOK_MUTANTS].map(({ what }) => what);
    expect(Object.keys(RARE).filter((what) => !known.includes(what))).toEqual([]);
  });
});
