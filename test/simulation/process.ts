/** A piece of code that runs in a worker: it sleeps, asks the service, ends; or its worker dies under it. */
import type { Agenda } from './agenda.ts';
import type { Asked } from './service.ts';
import type { Heard, Sending, Wire } from './wire.ts';

/** What a process waits for: milliseconds, or the answer to a request. */
export type Wait = number | { ask: Asked; timeoutMs: number };
export type Code<End> = Generator<Wait, End, Heard | undefined>;

export class Process<End> {
  readonly #agenda: Agenda;
  readonly #wire: Wire;
  readonly #code: Code<End>;
  readonly #onEnd: (end: End) => void;
  #fate: 'heard' | 'unheard' | 'dead';
  #sending: Sending | undefined;

  /** @param unheard it runs to its end, and nobody hears of it */
  constructor(agenda: Agenda, wire: Wire, code: Code<End>, onEnd: (end: End) => void, unheard = false) {
    this.#agenda = agenda;
    this.#wire = wire;
    this.#code = code;
    this.#onEnd = onEnd;
    this.#fate = unheard ? 'unheard' : 'heard';
    this.#go(undefined);
  }

  get heard(): boolean {
    return this.#fate === 'heard';
  }

  /** Its worker dies: what is on its way may still arrive, nothing more is sent. */
  die(): void {
    this.#fate = 'dead';
    this.#sending?.abandon();
  }

  /** Nobody waits for it any more, and it doesn't know. */
  forget(): void {
    if (this.#fate === 'heard') this.#fate = 'unheard';
    this.#sending?.abandon();
  }

  #go(heard: Heard | undefined): void {
    if (this.#fate === 'dead') return;
    this.#sending = undefined;
    const { done, value } = this.#code.next(heard);
    if (done === true) {
      if (this.#fate === 'heard') this.#onEnd(value);
      return;
    }
    if (typeof value === 'number') {
      this.#agenda.at(this.#agenda.now + value, () => this.#go(undefined));
      return;
    }
    this.#sending = this.#wire.send(value.ask, value.timeoutMs, (answer) => this.#go(answer));
    if (this.#fate === 'unheard') this.#sending?.abandon();
  }
}
