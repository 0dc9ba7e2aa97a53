/** What Temporal does with an order in one life, by the count of what it does it to. */
import type { Happening, Liberty } from './happenings.ts';

type Counted = Extract<Liberty, { nth: number }>;
type Of<What extends Liberty['do']> = Extract<Liberty, { do: What }>;

export class Liberties {
  readonly skewMs: number;
  readonly breaksDown: boolean;
  /** Tasks, timers or tries come late. */
  readonly delays: boolean;
  readonly #happenings: readonly Happening[];
  #continues: Of<'continue'>[];

  constructor(happenings: readonly Happening[]) {
    this.#happenings = happenings;
    this.#continues = happenings.filter((one) => one.do === 'continue');
    this.skewMs = happenings.findLast((one) => one.do === 'skew')?.ms ?? 0;
    this.breaksDown = happenings.some((one) => one.do === 'break-down');
    this.delays = happenings.some(({ do: what }) => /^(?:late-|lose-|reset|stall)/.test(what));
  }

  of<What extends Counted['do']>(what: What, nth: number): Of<What> | undefined {
    return this.#happenings.findLast(
      (one): one is Of<What> & Counted => one.do === what && 'nth' in one && one.nth === nth,
    );
  }

  /** @returns the plan to continue as new that is due; each comes true once */
  continuesAfter(task: number, wasReset: boolean): Of<'continue'> | undefined {
    return this.#continues.find(
      ({ afterTask, afterReset = false }) => task >= afterTask && (wasReset || !afterReset),
    );
  }

  continued(task: number, wasReset: boolean): void {
    const due = this.continuesAfter(task, wasReset);
    this.#continues = this.#continues.filter((one) => one !== due);
  }
}
