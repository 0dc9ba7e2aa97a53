import { expect, test } from 'vitest';
import { eventually } from './eventually.ts';

test('returns what the probe returned once it no longer throws or says false', async () => {
  const answers: (() => number | false)[] = [
    () => {
      throw new Error('not yet');
    },
    () => false,
    () => 0,
  ];

  expect(await eventually(() => answers.shift()?.() ?? 1, { intervalMs: 1 })).toBe(0);
});

test("fails with the probe's last error when the time is over", async () => {
  let tries = 0;

  const probe = () => {
    tries += 1;
    throw new Error(`try ${tries}`);
  };

  await expect(eventually(probe, { timeoutMs: 20, intervalMs: 1 })).rejects.toThrow(/^try \d+$/);
  expect(tries).toBeGreaterThan(1);
});

test('fails in words when the probe said false to the end', async () => {
  await expect(eventually(() => false, { timeoutMs: 5, intervalMs: 1 })).rejects.toThrow(
    'the condition stayed false for 5 ms',
  );
});
