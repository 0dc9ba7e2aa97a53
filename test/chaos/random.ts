import { createHash, randomInt } from 'node:crypto';

/**
 * A source of numbers that depend on nothing but the seed and a label, so that each order's plan is the same in every
 * run, whatever else is drawn and in whatever order.
 */
export class Dice {
  readonly #seed: string;

  constructor(...seed: (string | number)[]) {
    this.#seed = seed.join('|');
  }

  /** @returns a number from 0 (inclusive) to 1 (exclusive) */
  number(label: string): number {
    return createHash('sha256').update(`${this.#seed}|${label}`).digest().readUIntBE(0, 6) / 2 ** 48;
  }

  /** @returns whether an event of this probability happens */
  chance(label: string, probability: number): boolean {
    return this.number(label) < probability;
  }

  /** @returns a whole number from `from` to `to`, both inclusive */
  between(label: string, from: number, to: number): number {
    return from + Math.floor(this.number(label) * (to - from + 1));
  }

  /** @returns one of the entries, each as often as its weight says */
  weighted<T>(label: string, entries: readonly (readonly [T, number])[]): T {
    const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.number(label) * total;
    for (const [entry, weight] of entries) {
      left -= weight;
      if (left < 0) return entry;
    }
    const last = entries.at(-1);
    if (last === undefined) throw new TypeError('nothing to choose from');
    return last[0];
  }
}

/** @returns a seed for a run that was given none */
export function randomSeed(): number {
  return randomInt(1, 1_000_000);
}
