import fc from 'fast-check';
import { describe, it } from 'vitest';
import { live } from './live.ts';
import { withStage } from './stage.ts';
import { life } from './steps.ts';

/** More lives with `MODEL_RUNS`, other ones with `MODEL_SEED`, and no shrinking with `MODEL_SHRINK=0`. */
const RUNS = Number(process.env.MODEL_RUNS ?? 40);
const SEED = Number(process.env.MODEL_SEED ?? 20_260_302);
/** Lives on one server: it drops its connections, and tasks with them, after some pings of a client (30 s each). */
const RUNS_A_SERVER = 20;
const MS_A_RUN = 10_000;

const seeds = Array.from({ length: Math.ceil(RUNS / RUNS_A_SERVER) }, (_, index) => SEED + index);

describe.each(seeds)('random lives of orders, from seed %i on', (seed) => {
  const stage = withStage();

  it(
    'go as the design says, step by step',
    async () => {
      const property = fc.asyncProperty(life, (one) => live(stage(), one));
      await fc.assert(property, {
        seed,
        numRuns: Math.min(RUNS, RUNS_A_SERVER),
        interruptAfterTimeLimit: RUNS_A_SERVER * MS_A_RUN,
        endOnFailure: process.env.MODEL_SHRINK === '0',
      });
    },
    RUNS_A_SERVER * MS_A_RUN + 60_000,
  );
});
