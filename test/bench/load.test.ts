import { describe, expect, it } from 'vitest';
import { type Clock, closedLoop, openLoop } from '../../bench/measure/load.ts';

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
  it('calls at evenly spaced times, whether earlier calls were answered or not', async () => {
    const clock = aClock();
    const calledAt: number[] = [];
    let answerAll: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    const { latencies } = await openLoop(
      { rate: 10, count: 3 },
      (index) => {
        calledAt.push(clock.now());
        if (index === 2) answerAll();
        return answered;
      },
      clock,
    );
    expect(calledAt).toEqual([1_000, 1_100, 1_200]);
    expect(latencies).toEqual([200, 100, 0]);
  });

  it('counts the calls that a pause kept back from when they were due', async () => {
    const clock = aClock();
    const { latencies } = await openLoop(
      { rate: 10, count: 6 },
      async (index) => {
        if (index === 1) clock.goOn(300);
      },
      clock,
    );
    // Due at 100, answered at 400; those due at 200, 300 and 400 could begin only then.
    expect(latencies.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 100, 200, 300]);
  });

  it('counts failures apart, with their words', async () => {
    const { latencies, failures } = await openLoop(
      { rate: 10, count: 2 },
      async (index) => {
        if (index === 0) throw new Error('no decision');
      },
      aClock(),
    );
    expect(latencies).toHaveLength(1);
    expect(failures).toEqual(['no decision']);
  });
});

describe('a closed loop', () => {
  it('makes the calls asked for, and no more, however many callers there are', async () => {
    let calls = 0;
    let together = 0;
    let most = 0;
    const { done, failures } = await closedLoop({ callers: 3, count: 10 }, async () => {
      calls += 1;
      const own = calls;
      together += 1;
      most = Math.max(most, together);
      await Promise.resolve();
      together -= 1;
      if (own === 5) throw new Error('broken');
    });
    expect({ calls, done, failures, most }).toEqual({ calls: 10, done: 9, failures: ['broken'], most: 3 });
  });

  it('begins no call after its time, and waits for the last one', async () => {
    const clock = aClock();
    const { done, tookMs } = await closedLoop(
      { callers: 1, forMs: 250 },
      async () => {
        await clock.sleep(100);
      },
      clock,
    );
    expect({ done, tookMs }).toEqual({ done: 3, tookMs: 300 });
  });
});
