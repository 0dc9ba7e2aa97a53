/** The virtual clock, what is due on it, and what is wrong for a while. */
import type { Span } from '../../books/books.ts';
import type { Lasting } from '../plan/happenings.ts';

export class Agenda {
  /** Milliseconds after the epoch. */
  now: number;
  /** What comes first is the last; of two that are due at once the one that was put down first comes first. */
  readonly #entries: { at: number; happen: () => void }[] = [];

  readonly spans: Readonly<Record<Lasting, Span[]>> = {
    outage: [],
    'wrong-key': [],
    slow: [],
    'receiver-down': [],
    'workers-away': [],
    'no-integration': [],
    'no-key': [],
    'stash-down': [],
  };

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

  begin(what: Lasting, ms: number): void {
    this.spans[what].push({ from: this.now, until: this.now + ms });
  }

  isIn(what: Lasting): boolean {
    return this.spans[what].some(({ until }) => until > this.now);
  }

  /** @returns when it is over; now, if it is not so */
  endOf(what: Lasting): number {
    return Math.max(this.now, ...this.spans[what].map(({ until }) => until));
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
