/** Reads what one order costs from a kept result. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Measured, OrderCost } from './capacity.ts';
import type { Part } from './figures.ts';
import { figureSchema, type KeptResult, newestOfEach } from './kept.ts';

const resultSchema = z.object({
  figures: z.array(figureSchema.pick({ part: true, name: true, unit: true, value: true })),
});
type Figures = z.infer<typeof resultSchema>['figures'];

const POLLED = /^review, passed by webhook after (\d+) polls?$/;

/** @returns what the newest kept results tell of histories and of CPU @throws Error when none does */
export async function newestMeasured(folder: string): Promise<Measured> {
  const newest = await newestOfEach(folder);
  const [history, throughput] = [newest.get('history'), newest.get('throughput')];
  if (history === undefined || throughput === undefined) {
    throw new Error(
      'no kept result tells of history and throughput: npm run bench -- --only history,throughput --keep',
    );
  }
  const of = (part: Part, { figures }: KeptResult) => figures.filter((figure) => figure.part === part);
  return measuredOf([...of('history', history), ...of('throughput', throughput)]);
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
  const largest = (what: string, test: (figure: Figures[number]) => boolean) => {
    const found = figures.filter(test).map(({ value }) => value);
    if (found.length === 0) throw new Error(`the result lacks the figure: ${what}`);
    return Math.max(...found);
  };
  const history = (name: string, unit: string) =>
    largest(
      `${name}, ${unit}`,
      (figure) => figure.part === 'history' && figure.name === name && figure.unit === unit,
    );
  const cost = (name: string): OrderCost => ({
    bytes: history(name, 'bytes'),
    actions: history(name, 'actions'),
    transitions: history(name, 'transitions'),
  });
  // An order costs more where several workers share the load.
  const cpu = (process: string) =>
    largest(`CPU of ${process}`, ({ name }) => name.startsWith(`CPU of ${process}, whole life`)) / 1_000;
  const review = figures.find(({ name }) => POLLED.test(name))?.name ?? 'a polled review';
  return {
    passed: cost('passed'),
    declined: cost('declined'),
    review: { ...cost(review), polls: Number(POLLED.exec(review)?.[1] ?? 0) },
    cpu: { worker: cpu('worker'), api: cpu('API'), server: cpu('server') },
  };
}
