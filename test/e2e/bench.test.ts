import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Figure } from '../../bench/figures.ts';
import { SIZES } from '../../bench/sizes.ts';
import { HISTORY_LIMITS } from '../../bench/targets.ts';
import { scratchFolder } from '../dev/fake-commands.ts';
import { spawnForTest, withTestServer } from '../support/index.ts';

const server = withTestServer();

it('finds no more history for any kind of order than it has today', { timeout: 300_000 }, async () => {
  const file = join(await scratchFolder(), 'bench.json');

  const args = ['--only', 'history', '--json', file, '--size', 'tiny', '--address', server.address];
  const run = await spawnForTest('bench/main.ts', { args });
  expect(await run.ended, run.output()).toBe(0);
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
