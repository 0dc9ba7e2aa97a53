import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Part } from '../../bench/figures.ts';
import { measuredIn, measuredOf, newestMeasured } from '../../bench/measured.ts';
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
  ...['server', 'worker', 'API'].flatMap((one) => [
    figure('throughput', `CPU of ${one}, whole life by the API, encrypted, 1 worker`, 's/1,000', 20),
    figure('throughput', `CPU of ${one}, whole life by the API, encrypted, 2 workers`, 's/1,000', 30),
  ]),
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

it('takes the newest results that tell of history and of throughput', async () => {
  const folder = await scratchFolder();
  const write = (name: string, ...content: object[]) =>
    writeFile(
      join(folder, name),
      JSON.stringify({
        startedAt: '2026-01-01T10:00:00.000Z',
        commit: 'aaa',
        machine: { cpus: 2, memoryGb: 8, platform: 'linux', node: 'v20.20.2' },
        figures: content.map((one) => ({ ...one, targets: [] })),
      }),
    );
  await expect(newestMeasured(folder)).rejects.toThrow('--keep');
  await write('2026-01-01-aaa.json', ...figures);
  await write('2026-01-02-bbb.json', ...figures.filter(({ part }) => part === 'throughput').map(doubled));
  await write('2026-01-03-ccc.json', figure('start', 'npm start', 'ms', 1));

  expect(await newestMeasured(folder)).toMatchObject({ passed: { bytes: 9_000 }, cpu: { worker: 0.06 } });
});

it('reads a result that is named', async () => {
  const file = join(await scratchFolder(), 'result.json');
  await writeFile(file, JSON.stringify({ figures }));

  expect((await measuredIn(file)).cpu.worker).toBe(0.03);
});

function doubled<T extends { value: number }>(one: T): T {
  return { ...one, value: one.value * 2 };
}
