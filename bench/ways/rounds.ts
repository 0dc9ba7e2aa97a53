/** Rounds in which all ways are measured, and the figures of each order-screening way beside the floor. */
import { type Figure, type FigureInput, figureOf } from '../figures.ts';
import type { WayKind } from './ways.ts';

/** A measured value of each way per round, and the calls that failed. */
export class Rounds {
  readonly #measured = new Map<WayKind, { values: number[]; failures: string[] }>();

  add(kind: WayKind, value: number, failures: readonly string[]): void {
    const before = this.#measured.get(kind) ?? { values: [], failures: [] };
    this.#measured.set(kind, {
      values: [...before.values, value],
      failures: [...before.failures, ...failures],
    });
  }

  /** @param describe everything that does not follow from the values and the failures */
  figures(describe: (kind: WayKind) => Pick<FigureInput, 'part' | 'name' | 'unit' | 'targets'>): Figure[] {
    const all = [...this.#measured];
    const floor = all.find(([kind]) => kind.role === 'floor')?.[1].values;
    return all.flatMap(([kind, { values: value, failures }]) => {
      if (kind.role !== 'ours') return [];
      const failed = failures.length > 0;
      const note = failed ? `${failures.length} failed: ${failures[0]}` : undefined;
      return figureOf({ ...describe(kind), value, floor, failed, note });
    });
  }
}

/** @returns the entries rotated by the round's number, so that no way always follows the same one */
export function rotated<T>(entries: readonly T[], round: number): T[] {
  const from = entries.length === 0 ? 0 : round % entries.length;
  return [...entries.slice(from), ...entries.slice(0, from)];
}
