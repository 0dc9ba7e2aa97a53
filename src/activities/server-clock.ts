/** What time it is at the Temporal server, whatever the worker's own clock says. */
import { activityInfo } from '@temporalio/activity';
import { type Instant, instant } from '../orders/words.ts';
import { type Machine, sleepOn } from '../screening/index.ts';
import { tellNextTry, told, UNDER_WAY_MS, waitLonger } from './tries.ts';

/** A worker's clock that differs by less from the server's is taken as right. */
const AGREES_WITHIN_MS = 2_000;

/** A worker takes most tries at once, so that the least delay of the last minutes says how far its clock is ahead. */
const MINUTE_MS = 60_000;

/**
 * Measures the worker's clock against the moments at which the server schedules tries (rule «server time»). No try begins before it is
 * scheduled, so a try's delay by the worker's clock is never less than the clock's error. One for a worker process.
 */
export class ServerClock {
  readonly machine: Machine;
  /** How far the worker's clock is taken to be ahead of the server's. */
  #aheadMs = 0;
  /** The least delay of the tries of one minute, and of the minute before, by the worker's clock. */
  #least = { minute: 0, nowMs: Number.POSITIVE_INFINITY, beforeMs: Number.POSITIVE_INFINITY };

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** Returns the server's time by the worker's clock and its known error. It may be late by 2 s, and is early only if the clock is slow. */
  now(): Instant {
    return instant(this.machine.now() - this.#aheadMs);
  }

  /**
   * @param exact the time matters: where the worker's clock may be wrong, the server is asked to schedule the try again, at once
   * @returns when this try began, or up to as much earlier as the tries of the last minutes waited at least for a worker
   * @throws ApplicationFailure that has the server schedule the try again
   */
  async began(exact: boolean): Promise<Instant> {
    const { attempt, currentAttemptScheduledTimestampMs: scheduledMs } = activityInfo();
    const delayMs = this.machine.now() - scheduledMs;
    const asked = attempt > 1 && told().asked === attempt - 1;
    // The other tries come after a pause.
    if (attempt === 1 || asked) this.#note(delayMs, asked);
    const lateMs = delayMs - this.#aheadMs;
    // A server that was restarted may hand a try out before the pause after the last one is over. The pause is kept.
    const early = attempt > 1 && !asked && lateMs < 0;
    if (early) await sleepOn(this.machine, Math.min(-lateMs, UNDER_WAY_MS));
    // Either all tries wait for a worker, or the worker's clock is wrong. A try that is scheduled now tells which.
    if (exact && !asked && !this.#agrees(lateMs)) throw scheduleAgain(attempt);
    if (early) return instant(Math.min(scheduledMs, this.machine.now() - this.#aheadMs));
    return instant(Math.max(scheduledMs, this.machine.now() - this.#leastMs));
  }

  get #leastMs(): number {
    return Math.min(this.#least.nowMs, this.#least.beforeMs);
  }

  #agrees(lateMs: number): boolean {
    const differsMs = Math.min(this.#leastMs - this.#aheadMs, lateMs);
    return Math.abs(differsMs) <= AGREES_WITHIN_MS && lateMs <= MINUTE_MS;
  }

  #note(delayMs: number, asked: boolean): void {
    const minute = Math.floor(this.machine.elapsed() / MINUTE_MS);
    const { minute: last, nowMs } = this.#least;
    if (minute !== last) {
      const beforeMs = minute === last + 1 ? nowMs : Number.POSITIVE_INFINITY;
      this.#least = { minute, nowMs: Number.POSITIVE_INFINITY, beforeMs };
    }
    // The clock was set since.
    if (asked && delayMs > this.#leastMs + MINUTE_MS) this.#least.beforeMs = this.#least.nowMs = delayMs;
    this.#least.nowMs = Math.min(this.#least.nowMs, delayMs);
    if (asked && Math.abs(this.#leastMs - this.#aheadMs) > AGREES_WITHIN_MS) {
      this.#aheadMs = Math.abs(this.#leastMs) > AGREES_WITHIN_MS ? this.#leastMs : 0;
    }
    const tooFarMs = this.#aheadMs - this.#leastMs;
    if (tooFarMs > 0 && tooFarMs <= AGREES_WITHIN_MS) this.#aheadMs = this.#leastMs;
  }
}

function scheduleAgain(attempt: number): Error {
  tellNextTry({ ...told(), asked: attempt });
  return waitLonger('server-time', 'the worker asks the server for its time', 1);
}
