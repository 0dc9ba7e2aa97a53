/**
 * In continuous integration every property runs from one seed, so that a run says something about the change it is for
 * and nothing else. Elsewhere seeds are random, and `FUZZ_FACTOR` makes the runs longer: that is where new faults are
 * found, and each found one becomes a test of its own.
 */
import { fc } from '@fast-check/vitest';

const SEED = 20_261_121;

if (process.env.CI !== undefined) fc.configureGlobal({ seed: SEED });
