import { defineConfig } from 'vitest/config';
import { E2E_AT_A_TIME } from './test/support/dev-server-setup.ts';
import LongOnesFirst from './test/support/long-ones-first.ts';

const fuzz = ['test/fuzz/**/*.test.ts'];
const workflows = ['test/workflows/**/*.test.ts', 'test/replay/replay.test.ts'];
const simulation = ['test/simulation/*.test.ts'];
const e2e = [
  'test/e2e/**/*.test.ts',
  'test/dev/server/**/*.test.ts',
  'test/*/main.test.ts',
  'test/attacks/floods.test.ts',
];
const chaos = ['test/chaos/chaos.test.ts'];
const production = ['test/production/**/*.test.ts'];
const packaged = ['test/package/**/*.test.ts'];

/** The chaos run mostly waits, and is one file: it starts first, since its name does, and the others of its group run one by one beside it. */
const chaosGroup = { maxWorkers: 2, sequence: { groupOrder: 1 } };
const besideChaos = { ...chaosGroup, setupFiles: 'test/support/give-way.ts' };

/** A limit for what hangs, not for what is slow beside others that compute. */
const PATIENT_MS = 60_000;

export default defineConfig({
  test: {
    sequence: { sequencer: LongOnesFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...fuzz, ...workflows, ...e2e, ...simulation, ...chaos, ...production, ...packaged],
          // Most of the time went into loading the same modules for each file. So no helper keeps hooks or state of its own.
          isolate: false,
          // Some tests only wait.
          maxWorkers: 3,
          testTimeout: PATIENT_MS,
          hookTimeout: PATIENT_MS,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { name: 'fuzz', include: fuzz, testTimeout: PATIENT_MS, ...besideChaos } },
      // It computes, and so does most of the unit tests: beside the chaos run it would take what that needs to keep its times.
      {
        test: {
          name: 'simulation',
          include: simulation,
          testTimeout: 900_000,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'workflows',
          include: workflows,
          globalSetup: 'test/support/time-skipping-setup.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          ...besideChaos,
        },
      },
      {
        test: {
          name: 'e2e',
          include: e2e,
          globalSetup: 'test/support/dev-server-setup.ts',
          maxWorkers: E2E_AT_A_TIME,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'package',
          include: packaged,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...besideChaos,
        },
      },
      { test: { name: 'chaos', include: chaos, ...chaosGroup } },
      { test: { name: 'production', include: production, sequence: { groupOrder: 4 } } },
    ],
  },
});
