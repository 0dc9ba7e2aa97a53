import { describe, expect, it } from 'vitest';
import { type Clock, closedLoop, openLoop } from '../../bench/measure/load.ts';
import { median, percentile, percentiles } from '../../bench/measure/statistics.ts';

/** A clock that goes on only when somebody sleeps. */
function aClock(): Clock & { goOn: (ms: number) => void } {
  let now = 1_000;
  const goOn = (ms: number) => {
    now += ms;
  };
  const sleep = async (ms: number) => {
    // Who was answered before notices it before.
    await new Promise(setImmediate);
    goOn(ms);
  };
  return { now: () => now, sleep, goOn };
}

describe('an open loop', () => {
  it('calls at evenly spaced times, and counts failures apart, with their words', async () => {
    const clock = aClock();
    const calledAt: number[] = [];
    const call = async (index: number) => {
      calledAt.push(clock.now());
      if (index === 0) throw new Error('no decision');
    };
    const { latencies, failures } = await openLoop({ rate: 10, count: 3 }, call, clock);
    expect(calledAt).toEqual([1_000, 1_100, 1_200]);
    expect([latencies, failures]).toEqual([[0, 0], ['no decision']]);
  });

  it('counts the calls that a pause kept back from when they were due', async () => {
    const clock = aClock();
    const call = async (index: number) => {
      if (index === 1) clock.goOn(300);
    };
    const { latencies } = await openLoop({ rate: 10, count: 6 }, call, clock);
    // Due at 100, answered at 400; those due at 200, 300 and 400 could begin only then.
    expect(latencies.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 100, 200, 300]);
  });
});

describe('a closed loop', () => {
  it('makes the calls asked for, and no more, however many callers there are', async () => {
    let [calls, together, most] = [0, 0, 0];
    const { done, failures } = await closedLoop({ callers: 3, count: 10 }, async (index) => {
      calls += 1;
      together += 1;
      most = Math.max(most, together);
      await Promise.resolve();
      together -= 1;
      if (index === 5) throw new Error('broken');
    });
    expect({ calls, done, failures, most }).toEqual({ calls: 10, done: 9, failures: ['broken'], most: 3 });
  });
});

it('takes percentiles by nearest rank, in whatever order the values came, and none of nothing', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentiles(hundred)).toEqual({ p50: 50, p99: 99 });
  expect(percentiles([7])).toEqual({ p50: 7, p99: 7 });
  expect(percentile([1, 2], 0.51)).toBe(2);
  expect([[3, 1, 2], [4, 1, 3, 2], [5]].map(median)).toEqual([2, 2.5, 5]);
  expect(() => percentile([], 0.5)).toThrow('no values');
});
