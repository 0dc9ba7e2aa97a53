/** One activity as the Temporal server keeps it: its tries, pauses and time-outs, and what becomes of each try. */
import type { ApplicationFailure } from '@temporalio/common';
import { pollPauseMs } from '../../src/activities/status.ts';
import type { CallResult, RunFacts } from '../../src/contract/activity-contract.ts';
import { POLL_UNCHANGED } from '../../src/contract/activity-contract.ts';
import type { Outcome } from '../../src/orders/order.ts';
import {
  ACTIVITY_OF,
  ACTIVITY_OPTIONS,
  type ActivityCall,
  type ActivityLimits,
  performActivity,
} from '../../src/workflows/perform.ts';
import type { Liberty } from './happenings.ts';
import { Process } from './process.ts';
import { mixed } from './random.ts';
import type { Run } from './run.ts';
import { type RunningTry, runTry, type TryEnd } from './run-try.ts';
import { decisionOf } from './service.ts';
import type { World } from './world.ts';

/** After so many tries a life has no time for more that fail alike. */
const MANY = 20;

type Loss = Extract<Liberty, { do: 'lose-try' }>;

export class Activity {
  readonly number: number;
  readonly call: ActivityCall;
  /** What the run that asked for it told it: a reset gives it to another run. */
  readonly facts: RunFacts;
  readonly scheduledAt: number;
  readonly #world: World;
  readonly #run: Run;
  readonly #limits: ActivityLimits;
  #attempt = 0;
  #nth = 0;
  #told: unknown;
  #running: RunningTry | undefined;
  #over = false;
  #stopAsked = false;
  /** What is due for an earlier turn of it means nothing any more. */
  #turn = 0;
  #parkedUntil: number | undefined;

  constructor(world: World, run: Run, number: number, call: ActivityCall, facts: RunFacts) {
    this.#world = world;
    this.#run = run;
    this.number = number;
    this.call = call;
    this.facts = facts;
    this.#limits = ACTIVITY_OPTIONS[ACTIVITY_OF[call.kind]];
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

  workerDies(): void {
    if (this.#running === undefined || this.#over) return;
    this.#running.process.die();
    this.#giveUpAfter(this.#unheardMs);
  }

  /** Something changed for which a poll that waits may have news. */
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
    this.#at(comesAt, () => this.#begin(at));
  }

  /** Does it then, unless something else became of the activity. */
  #at(at: number, happen: () => void): void {
    const turn = ++this.#turn;
    this.#world.agenda.at(at, () => {
      if (turn === this.#turn) happen();
    });
  }

  #begin(scheduledAt: number): void {
    const world = this.#world;
    const { now } = world.agenda;
    const nth = world.count('tries');
    const late = world.liberties.of('late-try', nth)?.ms ?? 0;
    const comesAt = Math.max(now + late, world.endOf('workers-away'));
    this.#attempt += 1;
    const { scheduleToCloseTimeout = Number.POSITIVE_INFINITY } = this.#limits;
    const closesAt = this.scheduledAt + scheduleToCloseTimeout;
    if (comesAt >= closesAt) this.#finish({ status: 'failed' }, Math.max(0, closesAt - now));
    else this.#at(comesAt, () => this.#try(nth, scheduledAt));
  }

  #try(nth: number, scheduledAt: number): void {
    const world = this.#world;
    const { agenda } = world;
    this.#nth = nth;
    const loss = world.liberties.of('lose-try', nth);
    const turn = ++this.#turn;
    const process = new Process(agenda, world.liberties.of('stall', nth), (ms) => this.#stalled(turn, ms));
    const run = () => performActivity(this.call, world.activities, this.facts);
    const info = {
      attempt: this.#attempt,
      heartbeatDetails: this.#told,
      workflowExecution: { workflowId: 'order', runId: this.#run.id },
      scheduledTimestampMs: this.scheduledAt,
      currentAttemptScheduledTimestampMs: scheduledAt,
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
    if (loss?.how === 'dies') {
      agenda.at(agenda.now + (loss.ms % 3_000), () => {
        if (this.#running === running) this.workerDies();
      });
    }
  }

  /** A process that stands still sends no heartbeats. */
  #stalled(turn: number, ms: number): void {
    if (turn === this.#turn && ms >= this.#unheardMs) this.#giveUpAfter(this.#unheardMs);
  }

  /** After which the server gives up a try that it hears nothing of. */
  get #unheardMs(): number {
    return this.#limits.heartbeatTimeout ?? this.#limits.startToCloseTimeout;
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
    this.#at(this.#world.agenda.now + ms, () => {
      this.#running?.process.forget();
      this.#running = undefined;
      this.#again(undefined);
    });
  }

  /** @param failure absent: the server heard nothing of the try */
  #again(failure: ApplicationFailure | undefined): void {
    const { retry, scheduleToCloseTimeout } = this.#limits;
    const { initialInterval = 1_000, backoffCoefficient = 2, maximumAttempts } = retry;
    const { maximumInterval = 100 * initialInterval } = retry;
    const { now } = this.#world.agenda;
    const grown = Math.min(initialInterval * backoffCoefficient ** (this.#attempt - 1), maximumInterval);
    const at = now + Number(failure?.nextRetryDelay ?? grown);
    const over = scheduleToCloseTimeout !== undefined && at > this.scheduledAt + scheduleToCloseTimeout;
    const spent = maximumAttempts !== undefined && this.#attempt >= maximumAttempts;
    // The server tries nothing again that is to stop, and tells of the failure.
    if (this.#stopAsked || over || spent || failure?.nonRetryable === true) {
      this.#finish({ status: 'failed' });
      return;
    }
    const why = failure?.type ?? 'timed out';
    if (why === POLL_UNCHANGED && this.#attempt >= 3 && this.#mayPark()) {
      this.#turn += 1;
      this.#parkedUntil = at;
      return;
    }
    if (this.#attempt >= MANY && this.#failsForEver(why)) {
      this.#turn += 1;
      return;
    }
    const early = this.#world.liberties.of('early-try', this.#nth)?.ms;
    this.#schedule(at, early === undefined ? at : Math.min(at, now + early));
  }

  /** The fault is permanent, and only the order can end the call; a cancel ends with its window. */
  #failsForEver(why: string): boolean {
    const { life } = this.#world;
    const broken = (why === 'http-5xx' || why === 'forbidden') && !this.#world.has('wrong-key');
    const ends = this.call.kind === 'portal' && this.call.request.notAfter !== undefined;
    return broken && !ends && life.happenings.some((one) => one.do === 'broken');
  }

  #mayPark(): boolean {
    if (this.call.kind !== 'poll') return false;
    const { known, transactionId } = this.call.request;
    const { wire, service } = this.#world;
    if (wire.brokenBy('status') !== undefined) return false;
    const transaction = service.find(transactionId);
    return transaction !== undefined && decisionOf(transaction) === known && !this.#world.has('wrong-key');
  }

  #finish(outcome: Outcome, lateMs = 0): void {
    if (this.#over) return;
    this.#over = true;
    this.#turn += 1;
    this.#running = undefined;
    this.#parkedUntil = undefined;
    const { agenda } = this.#world;
    const chance = mixed(this.#world.life.seed + this.number, this.#attempt) / 2 ** 32;
    const takes = 1 + Math.floor(chance * 12);
    agenda.at(agenda.now + takes + lateMs, () => this.#run.ended(this.number, outcome));
  }
}
