/** Everything that is the same for all runs of an order: the clock, the service, the workers' fate, what is planned. */

import type { OrderActivities } from '../../src/contract/calls.ts';
import { instant } from '../../src/contract/words.ts';
import type { Books } from '../books/books.ts';
import { Agenda } from './network/agenda.ts';
import { Receiver } from './network/receiver.ts';
import { Service } from './network/service.ts';
import { Wire } from './network/wire.ts';
import { type Life, START } from './plan/life.ts';
import type { Rules } from './rules.ts';
import type { Activity } from './temporal/activity.ts';
import { Liberties } from './temporal/liberties.ts';
import { activitiesOf } from './temporal/workers.ts';

export class World {
  readonly life: Life;
  readonly rules: Rules;
  readonly agenda = new Agenda(START);
  readonly service: Service;
  readonly wire: Wire;
  readonly receiver: Receiver;
  /** When each card is gone. */
  readonly stash = { until: new Map<string, number>() };
  readonly liberties: Liberties;
  /** Activities that the server has not seen the end of. */
  readonly openActivities = new Set<Activity>();
  /** What GET showed, from each moment on. */
  readonly shown: Books['shown'] = [];
  /** A call was stopped between two tries, or failed by hand. */
  cutOff = false;
  /** When tasks that were lost began, and when the next began. */
  readonly lostTasks: { from: number; to: number }[] = [];
  /** How many inputs the order took in. */
  inputs = 0;
  /** What was broken, in words. */
  readonly faults: string[] = [];
  /** Told what happens, when a life is to be shown. */
  readonly tell: ((words: string) => void) | undefined;
  #activities: OrderActivities | undefined;
  #codeRan = false;
  readonly #counts = { try: 0, task: 0, timer: 0 };

  constructor(life: Life, rules: Rules, tell?: (line: string) => void) {
    this.life = life;
    this.rules = rules;
    this.tell = tell && ((words) => tell(`${instant(this.agenda.now)} ${words}`));
    this.liberties = new Liberties(life.happenings);
    this.service = new Service(life);
    this.receiver = new Receiver(this.agenda);
    this.wire = new Wire(this.agenda, this.service, life);
  }

  /** Notes what is wrong, if anything is. */
  fault(words: string | undefined): void {
    if (words === undefined) return;
    this.faults.push(words);
    this.tell?.(`FAULT ${words}`);
  }

  /** Something changed that a poll may find. */
  stir(): void {
    for (const one of this.openActivities) one.stir();
  }

  /** All workers die. */
  kill(): void {
    this.#activities = undefined;
    for (const one of [...this.openActivities]) one.workerDies();
  }

  /** The activities of the worker of now: one that was started anew knows nothing of what the others had in memory. */
  get activities(): OrderActivities {
    this.#activities ??= activitiesOf(this);
    return this.#activities;
  }

  /** Whatever follows within this time is in the books. */
  closeBooksIn(ms: number): void {
    this.agenda.at(this.agenda.now + ms, () => undefined);
  }

  /** Code of an activity runs: what it does by promises is to be awaited. */
  noteCode(): void {
    this.#codeRan = true;
  }

  /** @returns whether code of an activity ran since the last call */
  takeCodeRan(): boolean {
    const ran = this.#codeRan;
    this.#codeRan = false;
    return ran;
  }

  /** @returns the number of the next of its kind, from 1 */
  count(what: 'try' | 'task' | 'timer'): number {
    this.#counts[what] += 1;
    return this.#counts[what];
  }
}
