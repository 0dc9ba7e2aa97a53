/** Reads what one order costs from a kept result. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Measured, OrderCost } from './capacity.ts';
import { figureSchema } from './kept.ts';

const resultSchema = z.object({
  figures: z.array(figureSchema.pick({ part: true, name: true, unit: true, value: true })),
});
type Figures = z.infer<typeof resultSchema>['figures'];

const POLLED = /^review, passed by webhook after (\d+) polls?$/;

/** @returns the newest kept result that tells of histories and of CPU @throws Error when there is none */
export async function newestResult(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();
  for (const name of names.toReversed()) {
    const file = join(folder, name);
    const parts = new Set((await figuresIn(file)).map(({ part }) => part));
    if (parts.has('history') && parts.has('throughput')) return file;
  }
  throw new Error(
    'no kept result tells of history and throughput: npm run bench -- --only history,throughput --keep',
  );
}

/** @throws Error naming the figure that the result lacks */
export async function measuredIn(file: string): Promise<Measured> {
  return measuredOf(await figuresIn(file));
}

async function figuresIn(file: string): Promise<Figures> {
  return resultSchema.parse(JSON.parse(await readFile(file, 'utf8'))).figures;
}

/** @throws Error naming the figure that is missing */
export function measuredOf(figures: Figures): Measured {
  const value = (what: string, test: (figure: Figures[number]) => boolean) => {
    const found = figures.find(test);
    if (found === undefined) throw new Error(`the result lacks the figure: ${what}`);
    return found.value;
  };
  const history = (name: string, unit: string) =>
    value(
      `${name}, ${unit}`,
      (figure) => figure.part === 'history' && figure.name === name && figure.unit === unit,
    );
  const cost = (name: string): OrderCost => ({
    bytes: history(name, 'bytes'),
    actions: history(name, 'actions'),
    transitions: history(name, 'transitions'),
  });
  const cpu = (process: string) =>
    value(`CPU of ${process}`, ({ name }) => name.startsWith(`CPU of ${process}, whole life`)) / 1_000;
  const review = figures.find(({ name }) => POLLED.test(name))?.name ?? 'a polled review';
  return {
    passed: cost('passed'),
    declined: cost('declined'),
    review: { ...cost(review), polls: Number(POLLED.exec(review)?.[1] ?? 0) },
    cpu: { worker: cpu('worker'), api: cpu('API'), server: cpu('server') },
  };
}
