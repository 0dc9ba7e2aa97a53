/** The virtual clock, and what is due on it. */

interface Entry {
  at: number;
  happen: () => void;
}

export class Agenda {
  now: number;
  /** The latest first. */
  readonly #entries: Entry[] = [];

  constructor(now: number) {
    this.now = now;
  }

  /** Puts something down; what is due already comes as soon as everything before it has happened. */
  at(at: number, happen: () => void): void {
    const entry = { at: Math.max(at, this.now), happen };
    let place = this.#entries.length;
    while (place > 0 && (this.#entries[place - 1]?.at ?? 0) <= entry.at) place -= 1;
    this.#entries.splice(place, 0, entry);
  }

  /** Lets the next thing happen. @returns whether there was one */
  next(): boolean {
    const first = this.#entries.pop();
    if (first === undefined) return false;
    this.now = first.at;
    first.happen();
    return true;
  }
}
