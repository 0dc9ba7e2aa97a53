/** The virtual clock, and what is due on it. */
export class Agenda {
  /** Milliseconds after the epoch. */
  now: number;
  /** What comes first is the last; of two that are due at once the one that was put down first comes first. */
  #entries: { at: number; happen: () => void }[] = [];

  constructor(now: number) {
    this.now = now;
  }

  /** Puts something down; what is due already comes as soon as everything before it has happened. */
  at(due: number, happen: () => void): void {
    const at = Math.max(due, this.now);
    let [from, to] = [0, this.#entries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#entries[middle]?.at ?? 0) > at) from = middle + 1;
      else to = middle;
    }
    this.#entries.splice(from, 0, { at, happen });
  }

  /** Lets the next thing happen. @returns whether there was one */
  next(): boolean {
    const next = this.#entries.pop();
    if (next === undefined) return false;
    this.now = next.at;
    next.happen();
    return true;
  }
}
