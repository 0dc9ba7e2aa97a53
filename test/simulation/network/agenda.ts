/** The virtual clock, and what is due on it. */

interface Entry {
  at: number;
  /** Of two that are due at once the one that was put down first comes first. */
  order: number;
  happen: () => void;
}

export class Agenda {
  /** Milliseconds after the epoch. */
  now: number;
  #entries: Entry[] = [];
  #count = 0;

  constructor(now: number) {
    this.now = now;
  }

  /** Puts something down; what is due already comes as soon as everything before it has happened. */
  at(at: number, happen: () => void): void {
    const entries = this.#entries;
    const entry = { at: Math.max(at, this.now), order: this.#count++, happen };
    let place = entries.length;
    entries.push(entry);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = entries[parent];
      if (above === undefined || isBefore(above, entry)) break;
      entries[place] = above;
      place = parent;
    }
    entries[place] = entry;
  }

  /** Lets the next thing happen. @returns whether there was one */
  next(): boolean {
    const entries = this.#entries;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined) return false;
    if (entries.length > 0) this.#sink(last);
    this.now = first.at;
    first.happen();
    return true;
  }

  #sink(entry: Entry): void {
    const entries = this.#entries;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const left = entries[child];
      if (left === undefined) break;
      const right = entries[child + 1];
      if (right !== undefined && isBefore(right, left)) child += 1;
      const least = entries[child];
      if (least === undefined || isBefore(entry, least)) break;
      entries[place] = least;
      place = child;
    }
    entries[place] = entry;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
