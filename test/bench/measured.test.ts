import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Part } from '../../bench/figures.ts';
import { measuredIn, measuredOf, newestResult } from '../../bench/measured.ts';
import { scratchFolder } from '../dev/fake-commands.ts';

const figure = (part: Part, name: string, unit: string, value: number) => ({ part, name, unit, value });
const life = (name: string) => [
  figure('history', name, 'bytes', 9_000),
  figure('history', name, 'actions', 7),
  figure('history', name, 'transitions', 19),
];
const figures = [
  ...life('passed'),
  ...life('declined'),
  ...life('review, passed by webhook after 100 polls'),
  ...['server', 'worker', 'API'].map((one) =>
    figure('throughput', `CPU of ${one}, whole life by the API, encrypted, 1 worker`, 's/1,000', 30),
  ),
];

it('reads what an order costs from the figures of a result', () => {
  expect(measuredOf(figures)).toMatchObject({
    passed: { bytes: 9_000, actions: 7, transitions: 19 },
    review: { polls: 100 },
    cpu: { worker: 0.03, api: 0.03, server: 0.03 },
  });
});

it('names the figure that a result lacks', () => {
  expect(() => measuredOf(figures.filter(({ name }) => name !== 'declined'))).toThrow('declined, bytes');
});

it('takes the newest result that tells enough', async () => {
  const folder = await scratchFolder();
  const write = (name: string, content: object[]) =>
    writeFile(join(folder, name), JSON.stringify({ figures: content }));
  await write('2026-01-01-aaa.json', figures);
  await write('2026-01-02-bbb.json', figures);
  await write('2026-01-03-ccc.json', [figure('start', 'npm start', 'ms', 1)]);

  const newest = await newestResult(folder);

  expect(newest).toBe(join(folder, '2026-01-02-bbb.json'));
  expect((await measuredIn(newest)).cpu.worker).toBe(0.03);
  await expect(newestResult(await scratchFolder())).rejects.toThrow('--keep');
});
