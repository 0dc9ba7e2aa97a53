/** A request on its way to the screening service: when it arrives, what its sender hears, and what becomes of it without one. */
import type { HttpResponse } from '../../../src/screening-service/index.ts';
import type { BookedRequest, Heard } from '../../books/books.ts';
import { broken } from './http.ts';
import type { Process } from './process.ts';
import type { Asked, Said } from './service.ts';
import type { Told } from './virtual-machine.ts';
import type { Wire } from './wire.ts';

/** Milliseconds after which a create whose connection was lost is certainly there, or never will be. */
export const ARRIVES_WITHIN_MS = 9_900;

/** What the sender hears: in a word for the books, and as `fetch` has it. */
export type Answer = [heard: Heard, is: HttpResponse | Error];

export class Sending {
  readonly asked: Asked;
  readonly process: Process;
  said: Said | undefined;
  entry: BookedRequest | undefined;
  /** It arrives only after its sender has given it up, by so many milliseconds. */
  lateMs: number | undefined;
  /** Its sender has heard an answer, or has given it up. */
  over = false;
  #abandoned = false;
  readonly #wire: Wire;
  readonly #told: Told;
  #latest = Number.POSITIVE_INFINITY;
  #due: number | undefined;

  constructor(wire: Wire, asked: Asked, process: Process, told: Told) {
    this.#wire = wire;
    this.asked = asked;
    this.process = process;
    this.#told = told;
    process.sendings.add(this);
  }

  commitAt(at: number): void {
    this.#due = at;
    this.#wire.agenda.at(at, () => {
      const { entry } = this;
      if (entry === undefined || this.#due !== at) return;
      this.#due = undefined;
      if (at <= this.#latest) this.said = this.#wire.arrive(this.asked, entry);
    });
  }

  answerAt(at: number, make: () => Answer): void {
    this.#wire.agenda.at(at, () => {
      if (this.over) return;
      const answer = make();
      this.process.run(() => {
        if (!this.over) this.#end(...answer);
      });
    });
  }

  /** Its sender's time is up. */
  giveUp(): void {
    if (this.over) return;
    const longest = this.#wire.agenda.now + ARRIVES_WITHIN_MS;
    if (this.lateMs !== undefined) this.#commitLate(this.lateMs);
    else if (this.#due !== undefined && this.#due > longest) this.commitAt(longest);
    this.#end('unknown', broken('ECONNRESET'));
  }

  #end(...[heard, is]: Answer): void {
    this.over = true;
    this.process.sendings.delete(this);
    if (this.entry !== undefined && !this.#abandoned) {
      this.entry.endedAt = this.#wire.agenda.now;
      if (this.process.heard) this.entry.heard = heard;
      const seconds = is instanceof Error ? null : is.headers.get('retry-after');
      if (seconds !== null) this.entry.askedToWaitMs = Number(seconds) * 1_000;
    }
    this.#told(is);
  }

  #commitLate(ms: number): void {
    this.lateMs = undefined;
    this.commitAt(this.#wire.agenda.now + ms);
  }

  /** Nobody hears the answer: what hasn't arrived soon never does. */
  abandon(): void {
    const { entry } = this;
    if (this.#abandoned || entry === undefined) return;
    const { now } = this.#wire.agenda;
    this.#abandoned = true;
    this.#latest = now + ARRIVES_WITHIN_MS;
    if (this.lateMs !== undefined) this.#commitLate(this.lateMs);
    entry.endedAt = Math.min(entry.endedAt, now);
  }
}
