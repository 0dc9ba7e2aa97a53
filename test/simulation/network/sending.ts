/** A request on its way to the screening service: when it arrives, what its sender hears, and what becomes of it without one. */
import type { HttpResponse } from '../../../src/screening-service/index.ts';
import type { Heard } from '../../books/books.ts';
import type { Agenda } from './agenda.ts';
import { broken } from './http.ts';
import type { Process } from './process.ts';
import type { Asked, Entry, Said } from './service.ts';
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
  entry: Entry | undefined;
  /** It arrives only after its sender has given it up, by so many milliseconds. */
  lateMs: number | undefined;
  /** Its sender has heard an answer, or has given it up. */
  over = false;
  #abandoned = false;
  readonly #agenda: Agenda;
  readonly #wire: Wire;
  readonly #told: Told;
  #latest = Number.POSITIVE_INFINITY;
  #due: number | undefined;

  constructor(agenda: Agenda, wire: Wire, asked: Asked, process: Process, told: Told) {
    this.#agenda = agenda;
    this.#wire = wire;
    this.asked = asked;
    this.process = process;
    this.#told = told;
    process.sendings.add(this);
  }

  commitAt(at: number): void {
    this.#due = at;
    this.#agenda.at(at, () => {
      const { entry } = this;
      if (entry === undefined || this.#due !== at) return;
      this.#due = undefined;
      if (at <= this.#latest) this.said = this.#wire.arrive(this.asked, entry);
    });
  }

  /** A proxy, or the screening service without a look at what is asked, refuses it. */
  refuse(status: number, code: string | null = null): void {
    if (this.entry === undefined) return;
    this.entry.status = status;
    this.entry.code = code;
  }

  answerAt(at: number, make: () => Answer): void {
    this.#agenda.at(at, () => {
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
    const { now } = this.#agenda;
    if (this.entry !== undefined) {
      if (this.entry.fault === null || this.entry.fault === 'delay') this.entry.fault = 'timed-out';
      if (this.lateMs !== undefined) this.#commitLate(this.lateMs);
      else if (this.#due !== undefined && this.#due > now + ARRIVES_WITHIN_MS) {
        this.commitAt(now + ARRIVES_WITHIN_MS);
      }
    }
    this.#end('unknown', broken('ECONNRESET'));
  }

  #end(...[heard, is]: Answer): void {
    this.over = true;
    this.process.sendings.delete(this);
    const { entry } = this;
    if (entry !== undefined && !this.#abandoned) {
      entry.endedAt = this.#agenda.now;
      if (this.process.heard) entry.heard = heard;
      else entry.fault ??= 'unheard';
    }
    this.#told(is);
  }

  #commitLate(ms: number): void {
    this.lateMs = undefined;
    this.commitAt(this.#agenda.now + ms);
  }

  /** Nobody hears the answer: what hasn't arrived soon never does. */
  abandon(): void {
    const { entry } = this;
    if (this.#abandoned || entry === undefined) return;
    const { now } = this.#agenda;
    this.#abandoned = true;
    this.#latest = now + ARRIVES_WITHIN_MS;
    if (this.lateMs !== undefined) this.#commitLate(this.lateMs);
    entry.fault ??= 'unheard';
    entry.endedAt ??= now;
  }
}
