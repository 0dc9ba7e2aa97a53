/** Rounds in which all ways are measured, and the figures of each way of ours beside the floor and the plain way. */
import { type Figure, type FigureInput, figureOf } from '../figures.ts';
import type { WayKind } from './way.ts';

/** A measured value of each way, one per round. */
export class Rounds {
  readonly #values = new Map<WayKind, number[]>();

  add(kind: WayKind, value: number): void {
    this.#values.set(kind, [...(this.#values.get(kind) ?? []), value]);
  }

  /** @param describe everything but the values */
  figures(describe: (kind: WayKind) => Omit<FigureInput, 'value' | 'floor' | 'plain'>): Figure[] {
    const all = [...this.#values];
    const valuesOf = (role: WayKind['role']) => all.find(([kind]) => kind.role === role)?.[1];
    return all
      .filter(([{ role }]) => role === 'ours')
      .flatMap(([kind, value]) =>
        figureOf({ ...describe(kind), value, floor: valuesOf('floor'), plain: valuesOf('plain') }),
      );
  }
}

/** @returns the entries rotated by the round's number, so that no way always follows the same other way */
export function rotated<T>(entries: readonly T[], round: number): T[] {
  const from = entries.length === 0 ? 0 : round % entries.length;
  return [...entries.slice(from), ...entries.slice(0, from)];
}
