/** Everything that is the same for all runs of an order: the clock, the service, the workers' fate, what is planned. */
import type { OrderActivities } from '../../src/workflows/perform.ts';
import type { Books, Span } from '../books/books.ts';
import type { Activity } from './activity.ts';
import { Agenda } from './agenda.ts';
import type { Trouble } from './happenings.ts';
import { Liberties } from './liberties.ts';
import { type Life, START } from './life.ts';
import { Receiver } from './receiver.ts';
import { Service } from './service.ts';
import { Wire } from './wire.ts';
import { activitiesOf } from './workers.ts';

export class World {
  readonly life: Life;
  readonly agenda = new Agenda(START);
  readonly service: Service;
  readonly wire: Wire;
  readonly receiver: Receiver;
  readonly stash = new Map<string, number>();
  readonly #troubles: (Span & { what: Trouble })[] = [];
  readonly liberties: Liberties;
  /** Activities that the server has not seen the end of. */
  readonly openActivities = new Set<Activity>();
  readonly shown: Books['shown'] = [];
  /** A call was stopped between two tries. */
  cutOff = false;
  tasksLost = false;
  readonly faults: string[] = [];
  /** Told what happens, when a life is to be shown. */
  readonly tell: ((words: string) => void) | undefined;
  #activities: OrderActivities | undefined;
  readonly #counts = { tries: 0, timers: 0, tasks: 0 };

  constructor(life: Life, tell?: (line: string) => void) {
    this.life = life;
    this.tell = tell && ((words) => tell(`${momentOf(this.agenda.now - START)} ${words}`));
    this.liberties = new Liberties(life.happenings);
    this.service = new Service(life);
    this.receiver = new Receiver(this);
    this.wire = new Wire(this);
  }

  fault(words: string): void {
    this.faults.push(words);
    this.tell?.(`FAULT ${words}`);
  }

  stir(): void {
    for (const one of this.openActivities) one.stir();
  }

  /** Kills all workers for a while. */
  kill(ms: number): void {
    this.begin('workers-away', ms);
    this.#activities = undefined;
    for (const one of [...this.openActivities]) one.workerDies();
  }

  /** The activities of the current worker; a restarted one has an empty memory. */
  get activities(): OrderActivities {
    this.#activities ??= activitiesOf(this);
    return this.#activities;
  }

  begin(what: Trouble, ms: number): void {
    const { now } = this.agenda;
    this.#troubles.push({ what, from: now, until: now + ms });
    this.tell?.(`${what} for ${ms} ms`);
  }

  spansOf(trouble: Trouble): Span[] {
    return this.#troubles.filter(({ what }) => what === trouble);
  }

  /** @returns when the trouble of now ends; without any, now */
  endOf(trouble: Trouble): number {
    const { now } = this.agenda;
    const current = this.spansOf(trouble).filter(({ from, until }) => from <= now && now < until);
    return Math.max(now, ...current.map(({ until }) => until));
  }

  has(trouble: Trouble): boolean {
    return this.endOf(trouble) > this.agenda.now;
  }

  /** @returns the number of a new try, timer or workflow task, from 1 */
  count(what: 'tries' | 'timers' | 'tasks'): number {
    this.#counts[what] += 1;
    return this.#counts[what];
  }
}

/** @returns days, hours, minutes and seconds after the start */
function momentOf(ms: number): string {
  return `${Math.floor(ms / 86_400_000)}d ${new Date(ms).toISOString().slice(11, 23)}`;
}
