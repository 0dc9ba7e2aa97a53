/** The results that are kept in `bench/results/`. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PARTS, type Part } from './figures.ts';

const ratioSchema = z.object({
  value: z.number(),
  low: z.number().exactOptional(),
  high: z.number().exactOptional(),
});
export const figureSchema = z.object({
  part: z.enum(PARTS),
  name: z.string(),
  unit: z.string(),
  value: z.number(),
  floor: z.number().exactOptional(),
  plain: z.number().exactOptional(),
  toFloor: ratioSchema.exactOptional(),
  toPlain: ratioSchema.exactOptional(),
  targets: z.array(z.object({ words: z.string(), met: z.boolean() })),
  note: z.string().exactOptional(),
});
const resultSchema = z.object({
  startedAt: z.string(),
  commit: z.string(),
  machine: z.object({ cpus: z.number(), memoryGb: z.number(), platform: z.string(), node: z.string() }),
  figures: z.array(figureSchema),
});

export type KeptFigure = z.infer<typeof figureSchema>;
export type KeptResult = z.infer<typeof resultSchema>;

/** @returns for each part the newest result that has figures of it; none of a part that was never kept */
export async function newestOfEach(folder: string): Promise<Map<Part, KeptResult>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();
  const newest = new Map<Part, KeptResult>();
  for (const name of names) {
    const result = resultSchema.parse(JSON.parse(await readFile(join(folder, name), 'utf8')));
    for (const { part } of result.figures) newest.set(part, result);
  }
  return newest;
}
