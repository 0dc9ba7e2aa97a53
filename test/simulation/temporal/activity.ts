/** One activity as the Temporal server keeps it: its tries, pauses and time-outs, and what becomes of each try. */
import type { ApplicationFailure } from '@temporalio/common';
import { pollPauseMs } from '../../../src/activities/status.ts';
import type { RunFacts } from '../../../src/contract/activity-contract.ts';
import { POLL_UNCHANGED } from '../../../src/contract/activity-contract.ts';
import type { CallResult } from '../../../src/contract/calls.ts';
import type { Outcome } from '../../../src/order/order.ts';
import {
  type ActivityCall,
  type ActivityLimits,
  activityResult,
  startActivity,
} from '../../../src/workflows/perform.ts';
import { Process } from '../network/process.ts';
import type { Liberty } from '../plan/happenings.ts';
import { mixed } from '../random.ts';
import type { World } from '../world.ts';
import { runTry, type TryEnd } from './run-try.ts';
import { mayPark, sameUntil } from './same-again.ts';

/** What is asked of the server. */
export interface Scheduled {
  number: number;
  call: ActivityCall;
  /** The run that hears of it: a reset gives it to another one than told it its facts. */
  runId: string;
  facts: RunFacts;
  limits: ActivityLimits;
}

type Loss = Extract<Liberty, { do: 'lose-try' }>;

export class Activity {
  readonly #world: World;
  readonly #asked: Scheduled;
  readonly #hear: (outcome: Outcome) => void;
  readonly #scheduledAt: number;
  #attempt = 0;
  /** The last try's number among all of the world. */
  #nth = 0;
  #told: unknown;
  #running: Process | undefined;
  #over = false;
  #stopAsked = false;
  /** What is due for an earlier turn of it means nothing any more. */
  #turn = 0;
  #parkedUntil: number | undefined;

  /** @param hear called when the server knows of its end */
  constructor(world: World, asked: Scheduled, hear: (outcome: Outcome) => void) {
    this.#world = world;
    this.#asked = asked;
    this.#hear = hear;
    this.#scheduledAt = world.agenda.now;
    this.#schedule(this.#scheduledAt);
  }

  /** The order doesn't want it any more: what may write has an end of its own. */
  stop(): void {
    if (this.#over) return;
    this.#stopAsked = true;
    this.#running?.askToStop();
    if (this.#running !== undefined) return;
    this.#world.cutOff ||= this.#nth > 0;
    this.#finish({ status: 'canceled' });
  }

  /** Nobody waits for it any more: what runs runs on unheard. */
  end(): void {
    this.#over = true;
    this.#turn += 1;
    this.#world.openActivities.delete(this);
    this.#running?.forget();
    this.#running = undefined;
    this.#parkedUntil = undefined;
  }

  /** The worker that runs a try of it dies. */
  workerDies(): void {
    if (this.#running === undefined || this.#over) return;
    this.#running.die();
    this.#giveUpAfter(this.#unheardMs);
  }

  /** A poll that waits may have news. */
  stir(): void {
    if (this.#parkedUntil === undefined || this.#asked.call.kind !== 'poll') return;
    const { now } = this.#world.agenda;
    let at = this.#parkedUntil;
    while (at < now) {
      this.#attempt += 1;
      at += pollPauseMs(this.#asked.call.request, this.#attempt, at);
    }
    this.#parkedUntil = undefined;
    this.#schedule(at);
  }

  /** @param comesAt a server that was restarted may hand a try out before its time */
  #schedule(at: number, comesAt = at): void {
    this.#next(comesAt, () => this.#begin(at));
  }

  /** What is due next, unless something else comes first. */
  #next(at: number, happen: () => void): void {
    const turn = ++this.#turn;
    this.#world.agenda.at(at, () => {
      if (turn === this.#turn) happen();
    });
  }

  #begin(scheduledAt: number): void {
    const world = this.#world;
    const { agenda } = world;
    const nth = world.count('try');
    const late = world.liberties.of('late-try', nth)?.ms ?? 0;
    const wait = Math.max(late, agenda.endOf('workers-away') - agenda.now);
    this.#attempt += 1;
    const { scheduleToCloseTimeout = Number.POSITIVE_INFINITY } = this.#asked.limits;
    const closesAt = this.#scheduledAt + scheduleToCloseTimeout;
    if (agenda.now + Math.max(0, wait) >= closesAt) {
      this.#finish({ status: 'failed' }, Math.max(0, closesAt - agenda.now));
      return;
    }
    if (wait <= 0) this.#run(nth, scheduledAt);
    else this.#next(agenda.now + wait, () => this.#run(nth, scheduledAt));
  }

  #run(nth: number, scheduledAt: number): void {
    const world = this.#world;
    const { agenda } = world;
    this.#nth = nth;
    const loss = world.liberties.of('lose-try', nth);
    const turn = ++this.#turn;
    const running = new Process(world, world.liberties.of('stall', nth), (ms) => this.#stalled(turn, ms));
    const { call, facts, runId, number } = this.#asked;
    const run = async () => activityResult(call, await startActivity(call, world.activities, facts));
    const info = {
      runId,
      activityId: `${number}`,
      attempt: this.#attempt,
      scheduledTimestampMs: this.#scheduledAt,
      currentAttemptScheduledTimestampMs: scheduledAt,
      heartbeatDetails: this.#told,
    };
    const tellNext = (details: unknown): void => {
      if (turn === this.#turn && world.liberties.of('lose-heartbeat', nth) === undefined)
        this.#told = details;
    };
    runTry(world, running, run, info, tellNext, (end) => {
      if (this.#running === running) this.#running = undefined;
      if (turn === this.#turn) this.#tried(end, loss);
    });
    if (this.#stopAsked) running.askToStop();
    this.#running = running;
    if (loss?.how === 'zombie') {
      running.forget();
      this.#giveUpAfter(this.#unheardMs);
    }
    const soon = (ms: number, happen: () => void): void =>
      agenda.at(agenda.now + ms, () => {
        if (this.#running === running) happen();
      });
    if (loss?.how === 'dies') soon(loss.ms % 3_000, () => this.workerDies());
    const byHand = world.liberties.of('end-by-hand', nth);
    if (byHand !== undefined) soon(byHand.ms, () => this.#failByHand(running));
  }

  /** An operator fails it in Temporal: what runs reports nothing any more. */
  #failByHand(process: Process): void {
    process.forget();
    this.#world.cutOff = true;
    this.#finish({ status: 'failed', byHand: true });
  }

  /** A process that stands still sends no heartbeats. */
  #stalled(turn: number, ms: number): void {
    if (turn === this.#turn && ms >= this.#unheardMs) this.#giveUpAfter(this.#unheardMs);
  }

  /** After which the server gives up a try that it hears nothing of. */
  get #unheardMs(): number {
    return this.#asked.limits.heartbeatTimeout ?? this.#asked.limits.startToCloseTimeout;
  }

  #tried(tried: TryEnd<CallResult>, loss: Loss | undefined): void {
    if (loss?.how === 'end-lost') this.#giveUpAfter(this.#unheardMs);
    else if ('failure' in tried) this.#again(tried.failure);
    else
      this.#finish(
        { status: 'completed', result: tried.result },
        loss?.how === 'late-end' ? loss.ms % 8_000 : 0,
      );
  }

  #giveUpAfter(ms: number): void {
    this.#next(this.#world.agenda.now + ms, () => {
      this.#running?.forget();
      this.#running = undefined;
      this.#again(undefined);
    });
  }

  /** @param failure absent: the server heard nothing of the try */
  #again(failure: ApplicationFailure | undefined): void {
    const { retry, scheduleToCloseTimeout } = this.#asked.limits;
    const { initialInterval = 1_000, backoffCoefficient = 2, maximumAttempts } = retry;
    const { maximumInterval = 100 * initialInterval } = retry;
    const { now } = this.#world.agenda;
    const grown = Math.min(initialInterval * backoffCoefficient ** (this.#attempt - 1), maximumInterval);
    let pause = Number(failure?.nextRetryDelay ?? grown);
    let at = now + pause;
    const over = scheduleToCloseTimeout !== undefined && at > this.#scheduledAt + scheduleToCloseTimeout;
    const spent = maximumAttempts !== undefined && this.#attempt >= maximumAttempts;
    // The server tries nothing again that is to stop.
    if (this.#stopAsked || over || spent || failure?.nonRetryable === true) {
      this.#world.cutOff ||= this.#stopAsked;
      this.#finish({ status: 'failed' });
      return;
    }
    const why = failure?.type ?? 'timed out';
    if (why === POLL_UNCHANGED && this.#attempt >= 3 && mayPark(this.#world, this.#asked.call)) {
      this.#turn += 1;
      this.#parkedUntil = at;
      return;
    }
    const same = this.#attempt >= 4 ? sameUntil(this.#world, this.#asked.call, why) : 0;
    if (same === Number.POSITIVE_INFINITY) {
      // Only the order can end it.
      this.#turn += 1;
      return;
    }
    while (at < same) {
      if (this.#told === this.#attempt) this.#told = this.#attempt + 1;
      this.#attempt += 1;
      pause = why === 'forbidden' ? pause : Math.min(pause * 2, 300_000);
      at += pause;
    }
    const early = this.#world.liberties.of('early-try', this.#nth)?.ms;
    this.#schedule(at, early === undefined ? at : Math.min(at, now + early));
  }

  #finish(outcome: Outcome, lateMs = 0): void {
    if (this.#over) return;
    this.#over = true;
    this.#turn += 1;
    this.#running = undefined;
    this.#parkedUntil = undefined;
    const { agenda, life, openActivities } = this.#world;
    openActivities.delete(this);
    const chance = mixed(life.seed + this.#asked.number, this.#attempt) / 2 ** 32;
    agenda.at(agenda.now + 1 + Math.floor(chance * 12) + lateMs, () => this.#hear(outcome));
  }
}
