/** One activity as the Temporal server keeps it: its tries, pauses and time-outs, and what becomes of each try. */
import type { ApplicationFailure } from '@temporalio/common';
import { pollPauseMs } from '../../../src/activities/status.ts';
import type { RunFacts } from '../../../src/contract/activity-contract.ts';
import { POLL_UNCHANGED } from '../../../src/contract/activity-contract.ts';
import type { CallResult } from '../../../src/contract/calls.ts';
import type { Outcome } from '../../../src/order/order.ts';
import {
  ACTIVITY_OF,
  ACTIVITY_OPTIONS,
  type ActivityCall,
  type ActivityLimits,
  activityResult,
  startActivity,
} from '../../../src/workflows/perform.ts';
import { Process } from '../network/process.ts';
import type { Liberty } from '../plan/happenings.ts';
import { mixed } from '../random.ts';
import type { World } from '../world.ts';
import { type RunningTry, runTry, type TryEnd } from './run-try.ts';
import { mayPark, sameUntil } from './same-again.ts';

/** An activity of the server. */
export type Regular = ActivityCall;

/** The run of the workflow that hears of an activity. */
export interface Hearer {
  readonly id: string;
  ended(number: number, outcome: Outcome): void;
}

type Loss = Extract<Liberty, { do: 'lose-try' }>;

export class Activity {
  readonly number: number;
  readonly call: Regular;
  /** What the run that asked for it told it: a reset gives it to another run. */
  readonly facts: RunFacts;
  readonly scheduledAt: number;
  readonly #world: World;
  readonly #hearer: Hearer;
  readonly limits: ActivityLimits;
  #attempt = 0;
  /** The last try's number among all of the world. */
  #nth = 0;
  #told: unknown;
  #running: RunningTry | undefined;
  #over = false;
  #stopAsked = false;
  /** What is due for an earlier turn of it means nothing any more. */
  #turn = 0;
  #parkedUntil: number | undefined;

  constructor(
    world: World,
    hearer: Hearer,
    number: number,
    call: Regular,
    facts: RunFacts,
    limits: ActivityLimits = ACTIVITY_OPTIONS[ACTIVITY_OF[call.kind]],
  ) {
    this.#world = world;
    this.#hearer = hearer;
    this.number = number;
    this.call = call;
    this.facts = facts;
    this.limits = limits;
    this.scheduledAt = world.agenda.now;
    this.#schedule(this.scheduledAt);
  }

  /** The order doesn't want it any more. A read is over at once; what may write has an end of its own. */
  stop(waits: boolean): void {
    if (!waits) {
      this.end();
      return;
    }
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
    this.#running?.process.forget();
    this.#running = undefined;
    this.#parkedUntil = undefined;
  }

  /** The worker that runs a try of it dies. */
  workerDies(): void {
    if (this.#running === undefined || this.#over) return;
    this.#running.process.die();
    this.#giveUpAfter(this.#unheardMs);
  }

  /** A poll that waits may have news. */
  stir(): void {
    if (this.#parkedUntil === undefined || this.call.kind !== 'poll') return;
    const { now } = this.#world.agenda;
    let at = this.#parkedUntil;
    while (at < now) {
      this.#attempt += 1;
      at += pollPauseMs(this.call.request, this.#attempt, at);
    }
    this.#parkedUntil = undefined;
    this.#schedule(at);
  }

  /** @param comesAt a server that was restarted may hand a try out before its time */
  #schedule(at: number, comesAt = at): void {
    const turn = ++this.#turn;
    this.#world.agenda.at(comesAt, () => {
      if (turn === this.#turn) this.#begin(at);
    });
  }

  #begin(scheduledAt: number): void {
    const world = this.#world;
    const { agenda } = world;
    const away = world.workersAwayUntil();
    const nth = world.count('try');
    const late = world.liberties.of('late-try', nth)?.ms ?? 0;
    const wait = Math.max(late, away - agenda.now);
    this.#attempt += 1;
    const { scheduleToCloseTimeout = Number.POSITIVE_INFINITY } = this.limits;
    const closesAt = this.scheduledAt + scheduleToCloseTimeout;
    if (agenda.now + Math.max(0, wait) >= closesAt) {
      this.#finish({ status: 'failed' }, Math.max(0, closesAt - agenda.now));
      return;
    }
    if (wait <= 0) {
      this.#run(nth, scheduledAt);
      return;
    }
    const turn = ++this.#turn;
    agenda.at(agenda.now + wait, () => {
      if (turn === this.#turn) this.#run(nth, scheduledAt);
    });
  }

  #run(nth: number, scheduledAt: number): void {
    const world = this.#world;
    const { agenda } = world;
    this.#nth = nth;
    const loss = world.liberties.of('lose-try', nth);
    const turn = ++this.#turn;
    const process = new Process(
      agenda,
      () => world.noteCode(),
      world.liberties.of('stall', nth),
      (ms) => this.#stalled(turn, ms),
    );
    const run = async () =>
      activityResult(this.call, await startActivity(this.call, world.activities, this.facts));
    const info = {
      runId: this.#hearer.id,
      activityId: `${this.number}`,
      attempt: this.#attempt,
      firstScheduledAt: this.scheduledAt,
      scheduledAt,
      told: this.#told,
      isLocal: false,
    };
    const tellNext = (details: unknown): void => {
      if (turn === this.#turn && world.liberties.of('lose-heartbeat', nth) === undefined)
        this.#told = details;
    };
    const running = runTry(world, process, run, info, tellNext, (end) => {
      if (this.#running === running) this.#running = undefined;
      if (turn === this.#turn) this.#tried(end, loss);
    });
    if (this.#stopAsked) running.askToStop();
    this.#running = running;
    if (loss?.how === 'zombie') {
      process.forget();
      this.#giveUpAfter(this.#unheardMs);
    }
    const soon = (ms: number, happen: () => void): void =>
      agenda.at(agenda.now + ms, () => {
        if (this.#running === running) happen();
      });
    if (loss?.how === 'dies') soon(loss.ms % 3_000, () => this.workerDies());
    const byHand = world.liberties.of('end-by-hand', nth);
    if (byHand !== undefined) soon(byHand.ms, () => this.#failByHand(process));
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
    return this.limits.heartbeatTimeout ?? this.limits.startToCloseTimeout;
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
    const turn = ++this.#turn;
    const { agenda } = this.#world;
    agenda.at(agenda.now + ms, () => {
      if (turn !== this.#turn) return;
      this.#running?.process.forget();
      this.#running = undefined;
      this.#again(undefined);
    });
  }

  /** @param failure absent: the server heard nothing of the try */
  #again(failure: ApplicationFailure | undefined): void {
    const { retry, scheduleToCloseTimeout } = this.limits;
    const { initialInterval = 1_000, backoffCoefficient = 2, maximumAttempts } = retry;
    const { maximumInterval = 100 * initialInterval } = retry;
    const { now } = this.#world.agenda;
    const grown = Math.min(initialInterval * backoffCoefficient ** (this.#attempt - 1), maximumInterval);
    let pause = Number(failure?.nextRetryDelay ?? grown);
    let at = now + pause;
    const over = scheduleToCloseTimeout !== undefined && at > this.scheduledAt + scheduleToCloseTimeout;
    const spent = maximumAttempts !== undefined && this.#attempt >= maximumAttempts;
    // The server tries nothing again that is to stop.
    if (this.#stopAsked || over || spent || failure?.nonRetryable === true) {
      this.#world.cutOff ||= this.#stopAsked;
      this.#finish({ status: 'failed' });
      return;
    }
    const why = failure?.type ?? 'timed out';
    if (why === POLL_UNCHANGED && this.#attempt >= 3 && mayPark(this.#world, this.call)) {
      this.#turn += 1;
      this.#parkedUntil = at;
      return;
    }
    const same = this.#attempt >= 4 ? sameUntil(this.#world, this.call, why) : 0;
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

  #chance(): number {
    return mixed(this.#world.life.seed + this.number, this.#attempt) / 2 ** 32;
  }

  #finish(outcome: Outcome, lateMs = 0): void {
    if (this.#over) return;
    this.#over = true;
    this.#turn += 1;
    this.#running = undefined;
    this.#parkedUntil = undefined;
    const { agenda } = this.#world;
    const at = agenda.now + 1 + Math.floor(this.#chance() * 12) + lateMs;
    agenda.at(at, () => this.#hearer.ended(this.number, outcome));
  }
}
