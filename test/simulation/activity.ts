/** One activity as the Temporal server keeps it: its tries, pauses and time-outs, and what becomes of each try. */
import { type EffectResult, type End, RULES_WRITTEN } from '../../src/orders/order.ts';
import { LIMITS, type Limits, type Regular } from './activity-limits.ts';
import type { Liberty } from './happenings.ts';
import { deliver, forgetCard, portalAction, sendGatewayResult } from './portal-tries.ts';
import { Process } from './process.ts';
import { mixed } from './random.ts';
import { catchUp, retryScreening } from './screening-tries.ts';
import { lookUp, poll, pollPauseMs, readDurably } from './status-tries.ts';
import { type Context, moment, type Try, type TryEnd, UNDER_WAY_MS } from './tries.ts';
import { within } from './wire.ts';
import type { World } from './world.ts';

/** The run of the workflow that hears of an activity. */
export interface Hearer {
  readonly id: string;
  ended(number: number, end: End): void;
}

type Loss = Extract<Liberty, { do: 'lose-try' }>;

export class Activity {
  readonly number: number;
  readonly call: Regular;
  /** The run that asked for it, and the one that has it now: a reset gives it to another. */
  readonly begunBy: string;
  /** The recorded task that asked for it. */
  task = 0;
  readonly scheduledAt: number;
  /** When its last try began, and whether the try before it was cut off. */
  lastTryAt: number | undefined;
  triedAfterLoss = false;
  /** When the server knew of its end. */
  endedAt: number | undefined;
  stoppedAt: number | undefined;
  result: EffectResult | undefined;
  readonly #world: World;
  readonly #hearer: Hearer;
  readonly #limits: Limits;
  #attempt = 0;
  /** The last try's number among all of the world. */
  #nth = 0;
  #told: number | undefined;
  #process: Process<TryEnd> | undefined;
  #over = false;
  #stopAsked = false;
  /** What is due for an earlier turn of it means nothing any more. */
  #turn = 0;
  #parkedUntil: number | undefined;

  constructor(world: World, hearer: Hearer, number: number, call: Regular, begunBy: string) {
    this.#world = world;
    this.#hearer = hearer;
    this.number = number;
    this.call = call;
    this.begunBy = begunBy;
    this.#limits = LIMITS[call.kind];
    this.scheduledAt = world.agenda.now;
    this.#schedule(this.scheduledAt);
  }

  /** The order doesn't want it any more. A read is over at once; what may write has an end of its own. */
  stop(waits: boolean): void {
    this.stoppedAt = this.#world.agenda.now;
    if (!waits) {
      this.end();
      return;
    }
    if (this.#over) return;
    this.#stopAsked = true;
    if (this.#process === undefined) this.#finish({ how: 'cut-off' });
  }

  /** Nobody waits for it any more: what runs runs on unheard. */
  end(): void {
    this.#over = true;
    this.#turn += 1;
    this.#process?.forget();
    this.#process = undefined;
    this.#parkedUntil = undefined;
  }

  /** The worker that runs a try of it dies. */
  workerDies(): void {
    const process = this.#process;
    if (process === undefined || this.#over) return;
    process.die();
    this.#giveUpAt(this.#world.agenda.now + this.#limits.unheardMs);
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

  #schedule(at: number): void {
    const turn = ++this.#turn;
    this.#world.agenda.at(at, () => {
      if (turn === this.#turn) this.#begin(at);
    });
  }

  #begin(scheduledAt: number): void {
    const world = this.#world;
    const { agenda } = world;
    const away = world.workersAwayUntil();
    const nth = world.countTry();
    const late = world.liberties.lateTries.get(nth) ?? 0;
    const wait = Math.max(late, away - agenda.now);
    this.#attempt += 1;
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
    this.lastTryAt = agenda.now;
    this.#nth = nth;
    const loss = world.liberties.lostTries.get(nth);
    const turn = ++this.#turn;
    const told = this.#told;
    const context: Context = {
      life: world.life,
      agenda,
      receiver: world.receiver,
      stash: world.stash,
      runId: this.#hearer.id,
      afterReset: this.#afterReset(),
      attempt: this.#attempt,
      scheduledAt,
      startedAt: agenda.now,
      skewMs: world.liberties.skewMs,
      breaksDown: false,
      told,
      tellNext: (details) => {
        if (turn === this.#turn && !world.liberties.lostHeartbeats.has(nth)) this.#told = details;
      },
      askedToStop: () => this.#stopAsked,
      chance: () => this.#chance(),
    };
    let done = false;
    const process = new Process<TryEnd>(
      agenda,
      world.wire,
      this.#code(context),
      (end) => {
        done = true;
        this.#process = undefined;
        if (turn === this.#turn) this.#tried(end, loss);
      },
      loss?.how === 'zombie',
    );
    if (done) return;
    this.#process = process;
    if (loss?.how === 'zombie') this.#giveUpAt(agenda.now + this.#limits.unheardMs);
    if (loss?.how === 'dies') {
      agenda.at(agenda.now + (loss.ms % 3_000), () => {
        if (this.#process === process) this.workerDies();
      });
    }
  }

  #afterReset(): boolean {
    const { call } = this;
    const request = 'request' in call ? call.request : {};
    const writes = call.kind === 'catch-up' || call.kind === 'retry-screening' || call.kind === 'portal';
    return (
      ('wasReset' in request && request.wasReset === true) || (writes && this.begunBy !== this.#hearer.id)
    );
  }

  #code(context: Context): Try {
    const { call } = this;
    const begunHere = this.begunBy === context.runId;
    switch (call.kind) {
      case 'policy':
        return policyInForce(context);
      case 'retry-screening':
        return retryScreening(context, call.request, begunHere);
      case 'catch-up':
        return catchUp(context, call.request, begunHere);
      case 'read':
        return readDurably(context, call.request);
      case 'poll':
        return poll(context, call.request);
      case 'look-up':
        return lookUp(context, call.request);
      case 'gateway':
        return sendGatewayResult(context, call.request);
      case 'portal':
        return portalAction(context, call.request, begunHere);
      case 'deliver':
        return deliver(context, call);
      case 'forget-card':
        return forgetCard(context, call.request);
    }
  }

  #tried(tried: TryEnd, loss: Loss | undefined): void {
    const { now } = this.#world.agenda;
    if (loss?.how === 'end-lost') this.#giveUpAt(now + this.#limits.unheardMs);
    else if ('end' in tried) this.#finish(tried.end, loss?.how === 'late-end' ? loss.ms % 8_000 : 0);
    else this.#again(tried.again, tried.pauseMs);
  }

  #giveUpAt(at: number): void {
    const turn = ++this.#turn;
    this.#world.agenda.at(at, () => {
      if (turn !== this.#turn) return;
      this.#process?.forget();
      this.#process = undefined;
      this.triedAfterLoss = true;
      this.#again('timed out', undefined);
    });
  }

  #again(why: string, pauseMs: number | undefined): void {
    // The server tries nothing again that is to stop, and tells of the failure.
    if (this.#stopAsked) {
      this.#finish({ how: 'failed' });
      return;
    }
    const { tries, inAllMs, firstPauseMs, factor, longestPauseMs } = this.#limits;
    const { now } = this.#world.agenda;
    let pause = pauseMs ?? Math.min(firstPauseMs * factor ** (this.#attempt - 1), longestPauseMs);
    let at = now + pause;
    const over = inAllMs !== undefined && at > this.scheduledAt + inAllMs;
    if (over || (tries !== undefined && this.#attempt >= tries)) {
      this.#finish({ how: 'failed' });
      return;
    }
    if (why === 'unchanged' && this.#attempt >= 3 && this.#mayPark()) {
      this.#turn += 1;
      this.#parkedUntil = at;
      return;
    }
    // Tries that are certain to bring the same are left out: a life has no time for hundreds of them.
    const same = this.#attempt >= 4 && this.call.kind !== 'deliver' ? this.#world.sameUntil(why) : 0;
    const cancels = this.call.kind === 'portal' && this.call.request.notAfter !== undefined;
    while (!cancels && at < same) {
      if (this.#told === this.#attempt) this.#told += 1;
      this.#attempt += 1;
      pause = why === 'forbidden' ? pause : Math.min(pause * 2, 300_000);
      at += pause;
    }
    // A try that comes before its time waits for a while.
    const early = this.#world.liberties.earlyTries.get(this.#nth);
    this.#schedule(early === undefined ? at : Math.min(at, now + early + UNDER_WAY_MS));
  }

  #mayPark(): boolean {
    if (this.call.kind !== 'poll') return false;
    const { known, transactionId } = this.call.request;
    const { service, wrongKeys } = this.#world.wire;
    return service.find(transactionId)?.decision === known && !within(wrongKeys, this.#world.agenda.now);
  }

  #chance(): number {
    return mixed(this.#world.life.seed + this.number, this.#attempt) / 2 ** 32;
  }

  #finish(end: End, lateMs = 0): void {
    if (this.#over) return;
    this.#over = true;
    this.#turn += 1;
    this.#process = undefined;
    this.#parkedUntil = undefined;
    const { agenda } = this.#world;
    const at = agenda.now + 1 + Math.floor(this.#chance() * 12) + lateMs;
    agenda.at(at, () => {
      this.endedAt = at;
      if (end.how === 'done') this.result = end.result;
      this.#hearer.ended(this.number, end);
    });
  }
}

function* policyInForce(context: Context): Try {
  yield 3;
  const { policy } = context.life;
  return {
    end: { how: 'done', result: { kind: 'policy', policy, rules: RULES_WRITTEN, ...moment(context) } },
  };
}
