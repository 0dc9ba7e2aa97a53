/** The process of a worker as one try of an activity has it: its clocks, its timers, its requests; and what becomes of it. */
import { Context } from '@temporalio/activity';
import { ActivityCancellationDetails } from '@temporalio/common';
import type { Liberty } from '../plan/happenings.ts';
import type { World } from '../world.ts';
import type { Sending } from './sending.ts';

/** A pause of the whole process, such as of a machine that is suspended. */
type Stall = Pick<Extract<Liberty, { do: 'stall' }>, 'reading' | 'ms'>;

export class Process {
  readonly sendings = new Set<Sending>();
  /** Its code fails, as the life has it. */
  breaksDown = false;
  readonly cancellation: { details?: ActivityCancellationDetails } = {};
  readonly #world: World;
  readonly #stall: Stall | undefined;
  readonly #onStall: (ms: number) => void;
  #fate: 'heard' | 'unheard' | 'dead' = 'heard';
  #frozenUntil = 0;
  #readings = 0;

  /** @param onStall called when it freezes */
  constructor(world: World, stall?: Stall, onStall: (ms: number) => void = () => {}) {
    this.#world = world;
    this.#stall = stall;
    this.#onStall = onStall;
  }

  get heard(): boolean {
    return this.#fate === 'heard';
  }

  get isDead(): boolean {
    return this.#fate === 'dead';
  }

  /** True time, as far as its code has come: a frozen process does everything at the end of the pause. */
  get now(): number {
    return Math.max(this.#world.agenda.now, this.#frozenUntil);
  }

  /** Its code reads the clock. */
  readClock(): number {
    this.#readings += 1;
    if (this.#stall?.reading === this.#readings) {
      this.#frozenUntil = this.now + this.#stall.ms;
      this.#onStall(this.#stall.ms);
    }
    return this.now;
  }

  /** Calls back when its clock has gone on by so much. @returns a function that prevents it */
  after(ms: number, call: () => void): () => void {
    let due = true;
    this.#world.agenda.at(this.now + ms, () => {
      if (due) this.run(call, true);
    });
    return () => {
      due = false;
    };
  }

  /** Runs code of it, at the end of a pause if it is in one; timers that are due come first then. */
  run(code: () => void, isTimer = false): void {
    if (this.#fate === 'dead') return;
    const frozenUntil = this.#frozenUntil;
    if (frozenUntil > this.#world.agenda.now) {
      this.#world.agenda.at(isTimer ? frozenUntil : frozenUntil + 1, () => this.run(code, isTimer));
      return;
    }
    this.#world.noteCode();
    code();
  }

  /** It ends in the middle of its work: nothing more is sent, what has left may still arrive. */
  die(): void {
    this.#fate = 'dead';
    for (const one of this.sendings) one.abandon();
  }

  /** The order wants it to stop: its code may ask. */
  askToStop(): void {
    this.cancellation.details = STOP;
  }

  /** The server has given the try up. Its code runs on, and its requests with it. */
  forget(): void {
    if (this.#fate === 'heard') this.#fate = 'unheard';
  }
}

const STOP = new ActivityCancellationDetails({ cancelRequested: true });

/** The context of an activity, with the process that it runs in. */
export class TryContext extends Context {
  process: Process | undefined;
}
