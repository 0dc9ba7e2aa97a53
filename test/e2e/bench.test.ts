import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { scratchFolder } from '../dev/fake-commands.ts';
import { spawnForTest } from '../support/index.ts';

const bench = async (...args: string[]) => {
  const address = inject('temporalAddress');
  const run = await spawnForTest('bench/main.ts', {
    args: [...args, '--size', 'tiny', '--address', address],
  });
  return { code: await run.ended, output: run.output() };
};

it('measures decision times beside the floor and the plain way', { timeout: 300_000 }, async () => {
  const file = join(await scratchFolder(), 'bench.json');

  const { code, output } = await bench('--only', 'decision', '--json', file);

  expect(code, output).toBe(0);
  expect(output).toContain('client library, service 0 ms, p50');
  const { figures, size, parts } = JSON.parse(await readFile(file, 'utf8'));
  expect({ size, parts }).toEqual({ size: 'tiny', parts: ['decision'] });
  expect(figures).toHaveLength(6);
  for (const figure of figures) {
    expect(figure.value).toBeGreaterThan(0);
    expect(figure.floor).toBeGreaterThan(0);
    expect(figure.plain).toBeGreaterThan(0);
    expect(figure.note).toBeUndefined();
  }
});

/** Events of an order's whole life, those of workflow tasks not counted: their number is chance. */
const STEPS: Record<string, number> = {
  passed: 16,
  declined: 13,
  'declined, then passed': 27,
  'review, passed by webhook': 29,
  'review, passed by poll': 23,
  'review, failed by webhook and canceled': 30,
  'fraudulent after acceptance, canceled': 18,
  'no answer at checkout, passed later': 22,
  'review, passed by webhook after 1 poll': 29,
  'review, passed by webhook after 5 polls': 29,
};

it('finds no more history for any kind of order than it has today', { timeout: 300_000 }, async () => {
  const file = join(await scratchFolder(), 'bench.json');

  const { code, output } = await bench('--only', 'history', '--json', file);

  expect(code, output).toBe(0);
  const { figures } = JSON.parse(await readFile(file, 'utf8'));
  const steps = figures.filter(({ unit }: { unit: string }) => unit === 'steps');
  expect(steps).toHaveLength(Object.keys(STEPS).length);
  for (const { name, value } of steps) expect(value, name).toBeLessThanOrEqual(STEPS[name] ?? 0);
});
