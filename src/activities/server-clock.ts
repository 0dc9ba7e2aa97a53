/** What time it is at the Temporal server, whatever the worker's own clock says. */
import { activityInfo } from '@temporalio/activity';
import { type Instant, instant } from '../orders/words.ts';
import { type Machine, sleepOn } from '../screening/index.ts';
import { tellNextTry, told, UNDER_WAY_MS, waitLonger } from './tries.ts';

/** A worker's clock that differs by less from the time at which the server scheduled a try is taken as right. */
const AGREES_WITHIN_MS = 2_000;

/** Rule «server time». One for a worker process. */
export class ServerClock {
  readonly machine: Machine;
  /** How far the worker's clock is ahead of the server's. */
  #aheadMs = 0;

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** Returns the server's time by the worker's clock, corrected by what was last measured. */
  now(): Instant {
    return instant(this.machine.now() - this.#aheadMs);
  }

  /**
   * @param exact the time matters: a try that waited for a worker asks the server to schedule it again, at once
   * @returns when this try began
   * @throws ApplicationFailure that has the server schedule the try again
   */
  async began(exact: boolean): Promise<Instant> {
    const { attempt, currentAttemptScheduledTimestampMs: scheduledMs } = activityInfo();
    const lateMs = this.machine.now() - this.#aheadMs - scheduledMs;
    const agrees = Math.abs(lateMs) <= AGREES_WITHIN_MS;
    if (exact && !agrees && attempt > 1 && told().asked === attempt - 1) {
      this.#aheadMs += lateMs;
      return instant(scheduledMs);
    }
    // A server that was restarted may hand a try out before the pause after the last one is over. The pause is kept.
    const early = attempt > 1 && lateMs < 0;
    if (early) await sleepOn(this.machine, Math.min(-lateMs, UNDER_WAY_MS));
    // Either the try waited for a worker, or the worker's clock is wrong. A try that is scheduled now tells which.
    if (exact && !agrees) throw scheduleAgain(attempt);
    return instant(early ? Math.min(scheduledMs, this.machine.now() - this.#aheadMs) : scheduledMs);
  }
}

function scheduleAgain(attempt: number): Error {
  tellNextTry({ ...told(), asked: attempt });
  return waitLonger('server-time', 'the worker asks the server for its time', 1);
}
