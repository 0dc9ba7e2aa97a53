import { defineConfig } from 'vitest/config';
import { CHAOS, FIRST_E2E, LONG_E2E, MORE_LIVES, PRODUCTION } from './test/support/vitest/first-set.ts';
import LongOnesFirst from './test/support/vitest/long-ones-first.ts';

const fuzz = ['test/fuzz/**/*.test.ts'];
const workflows = ['test/workflows/**/*.test.ts', 'test/replay/replay.test.ts'];
const simulation = ['test/simulation/**/*.test.ts'];
const packaged = ['test/package/**/*.test.ts'];

/** A limit for what hangs, not for what is slow beside others that compute. */
const PATIENT_MS = 60_000;
const patient = { testTimeout: PATIENT_MS, hookTimeout: PATIENT_MS };
/** Some tests only wait. */
const AT_A_TIME = 3;
/** A group begins when the one before it has ended. */
const group = (groupOrder: number) => ({ maxWorkers: AT_A_TIME, sequence: { groupOrder } });

const e2e = {
  ...patient,
  globalSetup: 'test/support/servers/dev-server-setup.ts',
  ...group(2),
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongOnesFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...fuzz, ...workflows, ...LONG_E2E, ...simulation, ...CHAOS, ...PRODUCTION, ...packaged],
          // Most of the time went into loading the same modules for each file. So no helper keeps hooks or state of its own.
          isolate: false,
          ...patient,
          ...group(0),
        },
      },
      { test: { name: 'fuzz', include: fuzz, ...patient, ...group(1) } },
      {
        test: {
          name: 'simulation',
          include: simulation,
          exclude: MORE_LIVES,
          testTimeout: 900_000,
          ...group(0),
        },
      },
      {
        test: {
          name: 'workflows',
          include: workflows,
          globalSetup: 'test/support/servers/time-skipping-setup.ts',
          ...patient,
          ...group(1),
        },
      },
      {
        test: {
          name: 'package',
          include: packaged,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...group(1),
        },
      },
      { test: { name: 'e2e', include: FIRST_E2E, ...e2e } },
      // The chaos run mostly waits, and the lives beside it give way: what it does in a second alone, it is to do in a second.
      { test: { name: 'chaos', include: CHAOS, ...group(1) } },
      {
        test: {
          name: 'lives',
          include: MORE_LIVES,
          setupFiles: 'test/support/vitest/give-way.ts',
          testTimeout: 1_800_000,
          ...group(1),
        },
      },
      { test: { name: 'e2e-long', include: LONG_E2E, exclude: FIRST_E2E, ...e2e } },
      { test: { name: 'production', include: PRODUCTION, sequence: { groupOrder: 3 } } },
    ],
  },
});
