import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Figure } from '../../bench/figures.ts';
import { SIZES } from '../../bench/sizes.ts';
import { HISTORY_LIMITS } from '../../bench/targets.ts';
import { scratchFolder } from '../dev/fake-commands.ts';
import { spawnForTest, withTestServer } from '../support/index.ts';

const server = withTestServer();

const bench = async (...args: string[]) => {
  const run = await spawnForTest('bench/main.ts', {
    args: [...args, '--size', 'tiny', '--address', server.address],
  });
  return { code: await run.ended, output: run.output() };
};

const OUR_WAYS = [
  'client library',
  'client library, no events receiver',
  'HTTP API',
  'fast path, client library',
  'fast path, HTTP API',
];

it('measures decision times beside the floor and the plain way', { timeout: 300_000 }, async () => {
  const file = join(await scratchFolder(), 'bench.json');

  const { code, output } = await bench('--only', 'decision', '--json', file);

  expect(code, output).toBe(0);
  for (const name of OUR_WAYS) expect(output).toContain(`${name}, service 0 ms, p50`);
  const { figures, size, parts } = JSON.parse(await readFile(file, 'utf8'));
  expect({ size, parts }).toEqual({ size: 'tiny', parts: ['decision'] });
  expect(figures).toHaveLength(OUR_WAYS.length * 3);
  for (const figure of figures) {
    expect(figure.value).toBeGreaterThan(0);
    expect(figure.floor).toBeGreaterThan(0);
    expect(figure.plain).toBeGreaterThan(0);
    expect(figure.note).toBeUndefined();
  }
});

it('finds no more history for any kind of order than it has today', { timeout: 300_000 }, async () => {
  const file = join(await scratchFolder(), 'bench.json');

  const { code, output } = await bench('--only', 'history', '--json', file);

  expect(code, output).toBe(0);
  const { figures }: { figures: Figure[] } = JSON.parse(await readFile(file, 'utf8'));
  const budget = figures.filter(({ unit }) => unit === 'steps' || unit === 'tasks');
  const polled = SIZES.tiny.history.polls.length;
  expect(budget).toHaveLength(2 * (Object.keys(HISTORY_LIMITS).length + polled));
  const aims = Object.values(HISTORY_LIMITS).filter(({ aim }) => aim !== undefined).length;
  const ofEvents = figures.filter(({ unit, targets }) => unit === 'events' && targets.length > 0);
  expect(ofEvents).toHaveLength(aims + polled);
  for (const { name, unit, value, targets } of [...budget, ...ofEvents]) {
    expect(targets, name).not.toEqual([]);
    for (const { words, met } of targets) expect(met, `${name}: ${value} ${unit}, to be ${words}`).toBe(true);
  }
});
