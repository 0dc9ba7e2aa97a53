import fc from 'fast-check';
import { it } from 'vitest';
import { live } from './live.ts';
import { withStage } from './stage.ts';
import { life } from './steps.ts';

/** More runs with `MODEL_RUNS`, other ones with `MODEL_SEED`, and no shrinking with `MODEL_SHRINK=0`. */
const RUNS = Number(process.env.MODEL_RUNS ?? 50);
const SEED = Number(process.env.MODEL_SEED ?? 20_260_302);
const MS_A_RUN = 15_000;

const stage = withStage();

it(
  `${RUNS} random lives of orders go as the design says`,
  async () => {
    const property = fc.asyncProperty(life, (one) => live(stage(), one));
    await fc.assert(property, {
      numRuns: RUNS,
      seed: SEED,
      interruptAfterTimeLimit: RUNS * MS_A_RUN,
      endOnFailure: process.env.MODEL_SHRINK === '0',
    });
  },
  RUNS * MS_A_RUN + 60_000,
);
