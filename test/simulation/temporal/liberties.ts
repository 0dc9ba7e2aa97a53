/** What Temporal does with an order in one life, by the count of what it does it to. */
import type { Happening, Liberty } from '../plan/happenings.ts';
import { START } from '../plan/life.ts';

type Counted = Extract<Liberty, { nth: number }>;
type Of<What extends Liberty['do']> = Extract<Liberty, { do: What }>;

export class Liberties {
  /** By how much the workers' clock is off at most. */
  readonly mostSkewMs: number;
  readonly breaksDown: boolean;
  /** Tasks, timers or tries come late. */
  readonly delays: boolean;
  readonly #happenings: readonly Happening[];
  readonly #skews: readonly Of<'skew'>[];
  readonly #continues: Of<'continue'>[];

  constructor(happenings: readonly Happening[]) {
    this.#happenings = happenings;
    this.#continues = happenings.filter((one) => one.do === 'continue');
    this.#skews = happenings.filter((one) => one.do === 'skew');
    this.mostSkewMs = Math.max(0, ...this.#skews.map(({ ms }) => Math.abs(ms)));
    this.breaksDown = happenings.some((one) => one.do === 'break-down');
    this.delays = happenings.some(({ do: what }) => /^(?:late-|lose-|reset|stall)/.test(what));
  }

  /** @returns by how much the workers' clock is fast */
  skewMs(now: number): number {
    const at = now - START;
    return (
      this.#skews.findLast(({ from = 0, until = Number.POSITIVE_INFINITY }) => from <= at && at < until)
        ?.ms ?? 0
    );
  }

  /** @returns what befalls the nth of its kind, if anything does */
  of<What extends Counted['do']>(what: What, nth: number): Of<What> | undefined {
    return this.#happenings.findLast(
      (one): one is Of<What> & Counted => one.do === what && 'nth' in one && one.nth === nth,
    );
  }

  /** @returns whether the history is long enough now to continue as new: once for each time that is planned */
  continuesAfter(task: number, wasReset: boolean): boolean {
    return this.#due(task, wasReset) >= 0;
  }

  #due(task: number, wasReset: boolean): number {
    return this.#continues.findIndex(
      ({ afterTask, afterReset = false }) => task >= afterTask && (wasReset || !afterReset),
    );
  }

  continued(task: number, wasReset: boolean): void {
    const at = this.#due(task, wasReset);
    if (at >= 0) this.#continues.splice(at, 1);
  }
}
