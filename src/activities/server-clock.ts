/** What time it is at the Temporal server, whatever the worker's own clock says. */
import { activityInfo } from '@temporalio/activity';
import { type Instant, instant, millis } from '../contract/words.ts';
import { type Machine, sleepOn } from '../screening/index.ts';
import { tellNextTry, told, UNDER_WAY_MS, waitLonger } from './tries.ts';

/** A worker's clock that differs by less from the server's is taken as right. */
const AGREES_WITHIN_MS = 2_000;

/** A worker takes most tries at once, so that the least delay of the last minutes says how far its clock is ahead. */
const MINUTE_MS = 60_000;

/** When the server handed a try out as far as is known, when it began, both in its time, and what the monotonic clock said then. */
export interface Beginning {
  handedOut: Instant;
  began: Instant;
  elapsed: number;
}

/** The server runs a workflow task again, and with it a local activity, after so long. */
const TASK_MS = 10_000;

/** Two readings that are further apart were made before and after a process stood still. */
const AT_ONCE_MS = 100;

/**
 * Measures the worker's clock against the moments at which the server schedules tries (rule «server time»). No try begins before it is
 * scheduled, so a try's delay by the worker's clock is never less than the clock's error. One for a worker process.
 */
export class ServerClock {
  readonly machine: Machine;
  /** How far the worker's clock is taken to be ahead of the server's. */
  #aheadMs = 0;
  /** The least delay of the tries of one minute, and of the minute before. */
  #least = { minute: 0, nowMs: Number.POSITIVE_INFINITY, beforeMs: Number.POSITIVE_INFINITY };

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** Returns the server's time by the worker's clock and its known error. */
  now(): Instant {
    return instant(this.machine.now() - this.#aheadMs);
  }

  /**
   * @param exact the time matters: where the try began late, or the worker's clock may be wrong, the server is asked to schedule it again
   * @returns when this try began, or earlier by at most the least delay of the last minutes
   * @throws ApplicationFailure that has the server schedule the try again
   */
  async began(exact: boolean): Promise<Beginning> {
    const { attempt, currentAttemptScheduledTimestampMs: scheduledMs } = activityInfo();
    const { nowMs, elapsed } = this.#readClocks();
    const delayMs = nowMs - scheduledMs;
    const asked = attempt > 1 && told().asked === attempt - 1;
    // The other tries come after a pause.
    if (attempt === 1 || asked) this.#note(delayMs, elapsed);
    const knownMs = this.#leastMs(elapsed);
    const leastMs = Math.min(delayMs, knownMs);
    if (asked && !this.#isKnownBy(leastMs) && isAlike(delayMs, told().late)) this.#correct(leastMs);
    const lateMs = delayMs - this.#aheadMs;
    // A server that was restarted may hand a try out before the pause after the last one is over. The pause is kept.
    const early = attempt > 1 && !asked && lateMs < 0;
    if (early) {
      await sleepOn(this.machine, Math.min(-lateMs, UNDER_WAY_MS));
      const woken = this.#readClocks();
      if (exact && !this.#isInTime(woken.nowMs - scheduledMs, knownMs)) throw scheduleAgain(attempt, delayMs);
      const mostAheadMs = Number.isFinite(knownMs) ? knownMs : this.#aheadMs;
      const began = instant(Math.min(scheduledMs, woken.nowMs - mostAheadMs));
      return { handedOut: began, began, elapsed: woken.elapsed };
    }
    // Either the try waited for a worker, or the worker's clock is wrong. Two tries in a row that are late alike tell which.
    const isTold = asked && (isAlike(delayMs, told().late) || this.#isKnownBy(leastMs));
    if (exact && !isTold && !this.#isInTime(delayMs, leastMs)) throw scheduleAgain(attempt, delayMs);
    const began = instant(Math.max(scheduledMs, nowMs - leastMs));
    return { handedOut: began, began, elapsed };
  }

  /** Returns when a local activity began whose workflow task the server started at that time: later by what the task waited in the worker. */
  beganIn(task: Instant): Beginning {
    const { nowMs, elapsed } = this.#readClocks();
    const lateMs = nowMs - this.#leastMs(elapsed) - millis(task);
    const began = lateMs > 0 && lateMs <= TASK_MS ? instant(millis(task) + lateMs) : task;
    return { handedOut: task, began, elapsed };
  }

  /** Returns the least delay of this minute and the one before. */
  #leastMs(elapsed: number): number {
    const minutesAgo = minuteOf(elapsed) - this.#least.minute;
    if (minutesAgo > 1) return Number.POSITIVE_INFINITY;
    return minutesAgo === 1 ? this.#least.nowMs : Math.min(this.#least.nowMs, this.#least.beforeMs);
  }

  #isInTime(delayMs: number, leastMs: number): boolean {
    return Math.abs(delayMs - this.#aheadMs) <= AGREES_WITHIN_MS && this.#isKnownBy(leastMs);
  }

  /** Whether the least delay of the last minutes shows that the error of the worker's clock is known. */
  #isKnownBy(leastMs: number): boolean {
    return Math.abs(leastMs - this.#aheadMs) <= AGREES_WITHIN_MS;
  }

  /** Reads both clocks, again where the process stood still in between. */
  #readClocks(): { nowMs: number; elapsed: number } {
    for (;;) {
      const elapsed = this.machine.elapsed();
      const nowMs = this.machine.now();
      if (this.machine.elapsed() - elapsed <= AT_ONCE_MS) return { nowMs, elapsed };
    }
  }

  #note(delayMs: number, elapsed: number): void {
    const minute = minuteOf(elapsed);
    if (minute !== this.#least.minute) {
      this.#least = { minute, nowMs: Number.POSITIVE_INFINITY, beforeMs: this.#leastMs(elapsed) };
    }
    this.#least.nowMs = Math.min(this.#least.nowMs, delayMs);
    const tooFarMs = this.#aheadMs - this.#leastMs(elapsed);
    if (tooFarMs > 0 && tooFarMs <= AGREES_WITHIN_MS) this.#aheadMs -= tooFarMs;
  }

  /** The clock is wrong by what two tries show alike that the server scheduled for at once. */
  #correct(leastMs: number): void {
    this.#aheadMs = Math.abs(leastMs) > AGREES_WITHIN_MS ? leastMs : 0;
  }
}

function minuteOf(elapsed: number): number {
  return Math.floor(elapsed / MINUTE_MS);
}

function isAlike(delayMs: number, before: number | undefined): boolean {
  return before !== undefined && Math.abs(delayMs - before) <= AGREES_WITHIN_MS;
}

function scheduleAgain(attempt: number, delayMs: number): Error {
  tellNextTry({ ...told(), asked: attempt, late: delayMs });
  return waitLonger('server-time', 'the worker asks the server for its time', 1);
}
