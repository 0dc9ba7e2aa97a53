/** Everything that is the same for all runs of an order: the clock, the service, the workers' fate, what is planned. */
import type { Activity } from './activity.ts';
import { Agenda } from './agenda.ts';
import { Liberties } from './liberties.ts';
import { type Life, START } from './life.ts';
import { Receiver } from './receiver.ts';
import { Service } from './service.ts';
import type { Task } from './task.ts';
import type { Stash } from './tries.ts';
import { Watch } from './watch.ts';
import { Wire } from './wire.ts';

interface Span {
  from: number;
  until: number;
}

export class World {
  readonly life: Life;
  readonly agenda = new Agenda(START);
  readonly service: Service;
  readonly wire: Wire;
  readonly receiver = new Receiver();
  readonly stash: Stash = { until: new Map() };
  readonly liberties: Liberties;
  /** When no worker is there. */
  readonly away: Span[] = [];
  /** Activities that the server has not seen the end of. */
  readonly activities = new Set<Activity>();
  /** All of them that there were. */
  readonly everyActivity: Activity[] = [];
  readonly everyTask: Task[] = [];
  /** When tasks that were lost began, and when the next began. */
  readonly lostTasks: { from: number; to: number }[] = [];
  /** What was broken, in words. */
  readonly faults: string[] = [];
  /** Told what happens, when a life is to be shown. */
  readonly tell: ((words: string) => void) | undefined;
  #tries = 0;
  #timers = 0;
  #tasks = 0;

  constructor(life: Life, tell?: (words: string) => void) {
    this.life = life;
    this.tell = tell;
    this.liberties = new Liberties(life.happenings);
    this.service = new Service(life.policy.cancelWindowMs);
    const { cancelWindowMs } = life.policy;
    // A worker whose clock is slow is late by that.
    const slowMs = Math.max(0, -this.liberties.skewMs);
    const lastCallMs = cancelWindowMs - Math.min(30_000, cancelWindowMs / 100) + slowMs;
    const watch = new Watch((words) => this.fault(words));
    this.wire = new Wire(this.agenda, this.service, watch, life, lastCallMs);
  }

  fault(words: string): void {
    this.faults.push(words);
    this.tell?.(`FAULT ${words}`);
  }

  /** Something changed that a poll may find. */
  stir(): void {
    for (const one of this.activities) one.stir();
  }

  /** All workers die, and are back after a while. */
  kill(ms: number): void {
    const { now } = this.agenda;
    this.away.push({ from: now, until: now + ms });
    for (const one of [...this.activities]) one.workerDies();
  }

  workersAwayUntil(): number {
    return latest(this.away, this.agenda.now);
  }

  /** @returns until when a failure of this kind is certain to repeat */
  sameUntil(why: string): number {
    if (why === 'forbidden') return latest(this.wire.wrongKeys, this.agenda.now);
    return why === 'unreachable' ? latest(this.wire.outages, this.agenda.now) : 0;
  }

  countTry(): number {
    this.#tries += 1;
    return this.#tries;
  }

  countTask(): number {
    this.#tasks += 1;
    return this.#tasks;
  }

  countTimer(): number {
    this.#timers += 1;
    return this.#timers;
  }
}

function latest(spans: readonly Span[], now: number): number {
  let until = now;
  for (const span of spans) if (now >= span.from && span.until > until) until = span.until;
  return until;
}
