/** The Temporal server's time, independent of the worker's own clock. */
import { activityInfo } from '@temporalio/activity';
import { HEARTBEAT_TIMEOUT_MS, MEASURED_TIME } from '../contract/activity-contract.ts';
import { type Instant, instant, millis } from '../contract/words.ts';
import { type Machine, sleepOn } from '../screening-service/index.ts';
import {
  earlierHeartbeat,
  isFirstTry,
  measuredBefore,
  sendHeartbeat,
  UNDER_WAY_MS,
  waitLonger,
} from './tries.ts';

/** A worker's clock that differs less than this from the server's counts as correct. */
const AGREES_WITHIN_MS = 2_000;

/** A worker starts most attempts immediately, so the least delay of the last minutes shows how far its clock is ahead. */
const MINUTE_MS = 60_000;

/** When the server handed the attempt out (best estimate) and when it began, both in server time, and the monotonic clock at its start. */
export interface Beginning {
  handedOut: Instant;
  began: Instant;
  elapsed: number;
}

export interface Clock extends Beginning {
  /** Returns the current server time. */
  time: () => Instant;
}

/** Timeout of a workflow task. The server then retries the task and its local activities. */
const TASK_MS = 10_000;

/** If two readings are further apart than this, the process was suspended between them. */
const AT_ONCE_MS = 100;

/**
 * Compares the worker's clock with the times at which the server schedules attempts (rule «server time»). No attempt begins before it
 * is scheduled, so its delay by the worker's clock is never less than the clock's error. One per worker process.
 */
export class ServerClock {
  readonly machine: Machine;
  /** What the wall clock showed at the zero of the monotonic clock. It is read once, since it may be set at any moment. */
  #zeroMs: number | undefined;
  /** Estimated lead of the worker's clock over the server's. */
  #aheadMs = 0;
  /** The least delay of the attempts in one minute and in the minute before. */
  #least = { minute: 0, nowMs: Number.POSITIVE_INFINITY, beforeMs: Number.POSITIVE_INFINITY };
  /** When this process requested an attempt, by the monotonic clock. */
  readonly #askedAt = new Map<string, number>();

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** Returns the server's time: the worker's clock minus its estimated error. */
  now(): Instant {
    return instant(this.#readClock().nowMs - this.#aheadMs);
  }

  /**
   * @param exact whether to have the server schedule the attempt again if it began late or the worker's clock may be wrong
   * @param deadline before it, an attempt that began late needs no exact time if the worker's clock was right a moment ago
   * @returns when this attempt began, or earlier by at most the least delay of the last minutes
   * @throws ApplicationFailure that makes the server schedule the attempt again
   */
  async began(exact: boolean, deadline?: Instant): Promise<Beginning> {
    const { attempt, currentAttemptScheduledTimestampMs: scheduledMs } = activityInfo();
    const { nowMs, elapsed } = this.#readClock();
    const delayMs = nowMs - scheduledMs;
    const askedAt = this.#askedAt.get(nameOf(attempt - 1));
    // An attempt that starts so late is not the requested one: the server noticed only by the heartbeat timeout that the last one ended.
    const isLost = askedAt !== undefined && elapsed - askedAt >= HEARTBEAT_TIMEOUT_MS;
    const asked = measuredBefore() > 0 && !isLost;
    // Other retries are scheduled after a pause, so their delay shows nothing.
    if (isFirstTry() || asked) this.#note(delayMs, elapsed);
    const knownMs = this.#leastMs(elapsed);
    const leastMs = Math.min(delayMs, knownMs);
    // Two immediately scheduled attempts were equally late.
    if (asked && !this.#isKnownBy(leastMs) && isAlike(delayMs, earlierHeartbeat().late))
      this.#correct(leastMs);
    const isOwn = asked && askedAt !== undefined;
    if (isOwn) {
      // The server scheduled this attempt after this process requested it, so the server's time is at most that plus what passed since.
      const leastAheadMs = nowMs - (scheduledMs + elapsed - askedAt);
      const leastErrorMs = Math.min(Math.max(0, leastAheadMs), leastMs);
      if (!this.#isKnownBy(leastErrorMs)) this.#correct(leastErrorMs);
    }
    // A restarted server may hand out a retry before its pause is over. Wait for the rest of the pause here. As long as the clock's error
    // is not known, it counts as the least delay, and also if the clock is a little behind.
    const isError = Number.isFinite(knownMs) && (!this.#isKnownBy(knownMs) || knownMs < this.#aheadMs);
    const aheadMs = isError ? knownMs : this.#aheadMs;
    const lateMs = delayMs - aheadMs;
    const early = !isFirstTry() && !asked && lateMs < 0;
    if (early) {
      await sleepOn(this.machine, Math.min(-lateMs, UNDER_WAY_MS));
      const woken = this.#readClock();
      if (exact && !this.#isInTime(woken.nowMs - scheduledMs, knownMs)) throw this.#ask(attempt, delayMs);
      const mostAheadMs = Number.isFinite(knownMs) ? knownMs : this.#aheadMs;
      const began = instant(Math.min(scheduledMs, woken.nowMs - mostAheadMs));
      return { handedOut: began, began, elapsed: woken.elapsed };
    }
    // Either the attempt waited for a worker, or the worker's clock is wrong. If this process requested the attempt, the clock was
    // measured above. In another process: if two attempts in a row are equally late, it is the clock.
    const isAgain = isAlike(delayMs, earlierHeartbeat().late) || this.#isKnownBy(leastMs);
    // Without a deadline there is time to measure once more: what the attempt waited would be taken from a cancel window.
    const isMeasured = isOwn
      ? elapsed - askedAt <= AGREES_WITHIN_MS || deadline !== undefined || measuredBefore() > 1
      : asked && isAgain;
    const isBefore = deadline !== undefined && nowMs - this.#aheadMs <= millis(deadline);
    const isSafe = isBefore && lateMs > 0 && this.#isKnownBy(knownMs);
    if (exact && !isMeasured && !isSafe && !this.#isInTime(delayMs, leastMs))
      throw this.#ask(attempt, delayMs);
    const began = instant(Math.max(scheduledMs, nowMs - leastMs));
    return { handedOut: began, began, elapsed };
  }

  /** Returns when a local activity began: the start of its workflow task by the server, plus the time the task waited in the worker. */
  beganIn(task: Instant): Beginning {
    const { nowMs, elapsed } = this.#readClock();
    const lateMs = nowMs - this.#leastMs(elapsed) - millis(task);
    const began = lateMs > 0 && lateMs <= TASK_MS ? instant(millis(task) + lateMs) : task;
    return { handedOut: task, began, elapsed };
  }

  #leastMs(elapsed: number): number {
    const minutesAgo = minuteOf(elapsed) - this.#least.minute;
    if (minutesAgo > 1) return Number.POSITIVE_INFINITY;
    return minutesAgo === 1 ? this.#least.nowMs : Math.min(this.#least.nowMs, this.#least.beforeMs);
  }

  #isInTime(delayMs: number, leastMs: number): boolean {
    return Math.abs(delayMs - this.#aheadMs) <= AGREES_WITHIN_MS && this.#isKnownBy(leastMs);
  }

  /** Whether the least delay of the last minutes confirms the estimated error of the worker's clock. */
  #isKnownBy(leastMs: number): boolean {
    return Math.abs(leastMs - this.#aheadMs) <= AGREES_WITHIN_MS;
  }

  /** Returns what the monotonic clock shows, and the time of day by it: when the wall clock is set, nothing here moves. */
  #readClock(): { nowMs: number; elapsed: number } {
    this.#zeroMs ??= this.#readWallClock();
    const elapsed = this.machine.elapsed();
    return { nowMs: Math.round(this.#zeroMs + elapsed), elapsed };
  }

  /** Reads both clocks, and repeats if the process was suspended in between. */
  #readWallClock(): number {
    for (;;) {
      const elapsed = this.machine.elapsed();
      const zeroMs = this.machine.now() - elapsed;
      if (this.machine.elapsed() - elapsed <= AT_ONCE_MS) return zeroMs;
    }
  }

  #note(delayMs: number, elapsed: number): void {
    const minute = minuteOf(elapsed);
    if (minute !== this.#least.minute) {
      this.#least = { minute, nowMs: Number.POSITIVE_INFINITY, beforeMs: this.#leastMs(elapsed) };
    }
    this.#least.nowMs = Math.min(this.#least.nowMs, delayMs);
    const leastMs = this.#leastMs(elapsed);
    if (leastMs < this.#aheadMs && this.#isKnownBy(leastMs)) this.#correct(leastMs);
  }

  /** Returns a failure that makes the server schedule the attempt again, and notes when. */
  #ask(attempt: number, delayMs: number): Error {
    const [oldest] = this.#askedAt.keys();
    if (oldest !== undefined && this.#askedAt.size >= MOST_ASKED) this.#askedAt.delete(oldest);
    this.#askedAt.set(nameOf(attempt), this.machine.elapsed());
    sendHeartbeat({ ...earlierHeartbeat(), asked: attempt, late: delayMs, measured: measuredBefore() + 1 });
    return waitLonger(MEASURED_TIME, 'rescheduled to measure the server time', 1);
  }

  /** Corrects the estimate. An error that may be a wait is none: the next wait would be added to it. */
  #correct(aheadMs: number): void {
    this.#aheadMs = Math.abs(aheadMs) > AGREES_WITHIN_MS ? aheadMs : 0;
  }
}

/** The oldest are dropped: a requested attempt starts immediately, or in another process. */
const MOST_ASKED = 1_000;

function nameOf(attempt: number): string {
  const { workflowExecution, activityId } = activityInfo();
  return `${workflowExecution?.runId} ${activityId} ${attempt}`;
}

function minuteOf(elapsed: number): number {
  return Math.floor(elapsed / MINUTE_MS);
}

function isAlike(delayMs: number, before: number | undefined): boolean {
  return before !== undefined && Math.abs(delayMs - before) <= AGREES_WITHIN_MS;
}
