import { expect, test } from 'vitest';
import { FAULT_KINDS } from '../../src/sandbox/fault-plan.ts';
import { randomSeed } from './random.ts';
import { printedReport } from './report.ts';
import { runChaos } from './run-chaos.ts';

const ORDERS = 160;
const WITHIN_MS = 8 * 60_000;

test('nothing is lost and nothing doubled, whatever dies', { timeout: WITHIN_MS }, async ({
  signal,
  onTestFailed,
}) => {
  const seed = Number(process.env.CHAOS_SEED ?? randomSeed());
  onTestFailed(() =>
    console.error(`again with the same orders, faults and kills: CHAOS_SEED=${seed} npm run test:chaos`),
  );
  const result = await runChaos({
    seed,
    orders: ORDERS,
    rate: 3.5,
    workers: 2,
    killEveryMs: 12_000,
    temporalKills: 1,
    apiRestarts: 2,
    settleWithinMs: 200_000,
    say: () => undefined,
    signal,
  });
  const report = printedReport(result);
  expect(result.anomalies, report).toEqual([]);
  expect(result.faultsFromOutside.wrongSecretsTaken).toBe(0);
  const { deaths, faults } = result;
  for (const how of [
    'worker SIGKILL',
    'API with worker SIGTERM',
    'API with worker SIGKILL',
    'Temporal SIGKILL',
  ] as const) {
    expect(deaths[how], how).toBeGreaterThan(0);
  }
  const kinds = new Set(faults.played.map(({ kind }) => kind));
  expect(kinds.size, report).toBeGreaterThan(FAULT_KINDS.length / 2);
});
