/** Numbers that look random and depend on nothing but what they are made from. */

/** @returns a whole number from 0 to 2³² − 1 that depends on both numbers */
export function mixed(a: number, b: number): number {
  let hash = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** @returns a whole number from `from` to `to`, both inclusive, that depends on the other two */
export function between(from: number, to: number, seed: number, nth: number): number {
  return from + (mixed(seed, nth) % (to - from + 1));
}

/** A stream of numbers from one seed (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** @returns a number from 0 (inclusive) to 1 (exclusive) */
  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** @returns whether something of this probability happens */
  chance(probability: number): boolean {
    return this.number() < probability;
  }

  /** @returns a whole number from `from` to `to`, both inclusive */
  between(from: number, to: number): number {
    return from + Math.floor(this.number() * (to - from + 1));
  }

  /** @returns a whole number from `from` to `to`, small ones as often as large ones of each size */
  anySize(from: number, to: number): number {
    const least = Math.log(from + 1);
    return Math.floor(Math.exp(least + this.number() * (Math.log(to + 1) - least))) - 1;
  }

  /** @returns one of the entries */
  pick<const T>(entries: readonly [T, ...T[]]): T {
    return entries[Math.floor(this.number() * entries.length)] ?? entries[0];
  }
}
