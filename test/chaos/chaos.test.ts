import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { FAULT_KINDS } from '../../src/sandbox/fault-plan.ts';
import { runChaos } from './run-chaos.ts';
import { printed } from './verdict/report.ts';

const WITHIN_MS = 8 * 60_000;

test('nothing is lost and nothing doubled, whatever dies', { timeout: WITHIN_MS }, async ({
  signal,
  onTestFailed,
}) => {
  const seed = Number(process.env.CHAOS_SEED ?? randomInt(1, 1_000_000));
  onTestFailed(() =>
    console.error(`again with the same orders, faults and kills: CHAOS_SEED=${seed} npm run test:chaos`),
  );
  const result = await runChaos({
    seed,
    orders: 160,
    rate: 3.5,
    workers: 2,
    killEveryMs: 12_000,
    temporalKills: 1,
    apiRestarts: 2,
    settleWithinMs: 200_000,
    say: () => undefined,
    signal,
  });
  expect(result.anomalies, printed(result)).toEqual([]);
  expect(result.figures).toMatchObject({
    'worker SIGKILL': expect.any(Number),
    'API with worker SIGTERM': expect.any(Number),
    'API with worker SIGKILL': expect.any(Number),
    'Temporal SIGKILL': expect.any(Number),
  });
  const kinds = new Set(Object.keys(result.faults).map((fault) => fault.split(': ')[1]));
  expect(kinds.size, printed(result)).toBeGreaterThan(FAULT_KINDS.length / 2);
});
