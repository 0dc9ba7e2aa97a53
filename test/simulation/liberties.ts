/** What Temporal does with an order in one life, by the count of what it does it to. */
import type { Happening, Liberty } from './happenings.ts';

type Of<What extends Liberty['do']> = Extract<Liberty, { do: What }>;

export class Liberties {
  readonly lostTasks = new Map<number, Of<'lose-task'>>();
  readonly lateTasks = new Map<number, number>();
  readonly forgets = new Set<number>();
  readonly lostTries = new Map<number, Of<'lose-try'>>();
  readonly lateTries = new Map<number, number>();
  readonly earlyTries = new Map<number, number>();
  readonly stalls = new Map<number, Of<'stall'>>();
  readonly lostHeartbeats = new Set<number>();
  readonly lateTimers = new Map<number, number>();
  skewMs = 0;
  breaksDown = false;
  /** Tasks, timers or tries come late. */
  delays = false;
  #continues: number[] = [];

  constructor(happenings: readonly Happening[]) {
    for (const one of happenings) this.#take(one);
  }

  /** @returns whether the history is long enough now to continue as new: once for each time that is planned */
  continuesAfter(task: number): boolean {
    return this.#continues.some((at) => task >= at);
  }

  continued(task: number): void {
    const at = this.#continues.findIndex((one) => task >= one);
    if (at >= 0) this.#continues.splice(at, 1);
  }

  #take(one: Happening): void {
    this.delays ||=
      one.do.startsWith('late-') || one.do.startsWith('lose-') || one.do === 'reset' || one.do === 'stall';
    switch (one.do) {
      case 'lose-task':
        this.lostTasks.set(one.nth, one);
        break;
      case 'late-task':
        this.lateTasks.set(one.nth, one.ms);
        break;
      case 'forget':
        this.forgets.add(one.nth);
        break;
      case 'lose-try':
        this.lostTries.set(one.nth, one);
        break;
      case 'late-try':
        this.lateTries.set(one.nth, one.ms);
        break;
      case 'early-try':
        this.earlyTries.set(one.nth, one.ms);
        break;
      case 'stall':
        this.stalls.set(one.nth, one);
        break;
      case 'lose-heartbeat':
        this.lostHeartbeats.add(one.nth);
        break;
      case 'late-timer':
        this.lateTimers.set(one.nth, one.ms);
        break;
      case 'skew':
        this.skewMs = one.ms;
        break;
      case 'break-down':
        this.breaksDown = true;
        break;
      case 'continue':
        this.#continues.push(one.afterTask);
        break;
    }
  }
}
