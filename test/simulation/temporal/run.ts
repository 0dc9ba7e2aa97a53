/** One run of an order's workflow as the server keeps it: arrivals, recorded tasks, what is begun, who is answered. */
import type { RunFacts } from '../../../src/contract/activity-contract.ts';
import type { CheckoutAnswer } from '../../../src/contract/answers.ts';
import { ACTIVITY_OF } from '../../../src/contract/calls.ts';
import type { ScreenOrderInput } from '../../../src/contract/messages.ts';
import { type Instant, millis } from '../../../src/contract/words.ts';
import type { Command, Order, Reply, Sent } from '../../../src/order/order.ts';
import { ACTIVITY_OPTIONS, type ActivityCall } from '../../../src/workflows/perform.ts';
import type { World } from '../world.ts';
import { Activity } from './activity.ts';
import type { Arrival, Outcome, Task, Update } from './task.ts';
import { Worker } from './worker.ts';

export type Start = {
  input: ScreenOrderInput & { integration: string };
  startedAt: number;
  wasReset: boolean;
} & ({ from: 'new' } | { from: 'continued'; order: string });

type Ends = NonNullable<Task['ends']>;

/** A screening that is to stop ends within 30 s; the one that waits for it, and all others, within 10. */
const LONGEST_WAIT_MS = 40_000;
/** Temporal takes no more updates at once. */
const IN_FLIGHT = 10;

export class Run {
  readonly id: string;
  readonly start: Start;
  readonly world: World;
  readonly tasks: Task[] = [];
  readonly updates = new Map<string, Update>();
  readonly arrivals: Arrival[] = [];
  readonly activities = new Map<number, Activity>();
  over = false;
  /** An operator reset the order: what was under way then is no part of its history. */
  cutOff = false;
  readonly #onEnd: (how: Ends) => void;
  readonly worker: Worker;
  /** What activities were told of the run that asked for them. */
  readonly factsOf = new Map<number, RunFacts>();
  /** Hears how the first screening ended before that is recorded. */
  onFirst: ((answer: CheckoutAnswer) => void) | undefined;
  readonly #timers = new Set<number>();

  constructor(world: World, id: string, start: Start, onEnd: (how: Ends) => void) {
    this.world = world;
    this.id = id;
    this.start = start;
    this.worker = new Worker(this);
    this.#onEnd = onEnd;
  }

  /** Sends an update: a new one, or one that this run knows by its id. */
  update({ updateId: id, key }: Sent, ask: Update['ask'], hear: (outcome: Outcome) => void): void {
    const known = this.updates.get(id);
    if (known?.outcome !== undefined) hear(known.outcome);
    else if (this.over) hear('closed');
    else if (known !== undefined) known.callers.push(hear);
    else if (this.inFlight().length >= IN_FLIGHT) hear('exhausted');
    else this.take({ id, ask, key, callers: [hear] });
  }

  /** @returns updates that have no outcome */
  inFlight(): Update[] {
    return [...this.updates.values()].filter(({ outcome }) => outcome === undefined);
  }

  /** Takes over an update that another run has not taken. */
  take(update: Update): void {
    delete update.input;
    delete update.acceptedAt;
    this.updates.set(update.id, update);
    this.arrive({ kind: 'update', update });
  }

  arrive(arrival: Arrival): void {
    if (this.over) return;
    this.arrivals.push(arrival);
    if (!this.worker.busy) this.worker.schedule();
  }

  /** Why the order can't be screened at all. */
  get refusal() {
    return this.worker.refusal;
  }

  /** The order as the worker that knows it has it; undefined: none knows it. */
  get order(): Order | undefined {
    return this.worker.order;
  }

  /** The run is over for the server; what runs on does so unheard. */
  close(): void {
    this.over = true;
    for (const one of this.activities.values()) one.end();
    this.activities.clear();
    this.worker.leave();
    this.#timers.clear();
  }

  /** A task's end is in the history: what it asks for is begun, and whoever waits is told. */
  record(task: Task, order: Order | undefined): void {
    task.recordedAt = this.world.agenda.now;
    this.tasks.push(task);
    if (order !== undefined) this.#show(order);
    this.arrivals.splice(0, task.batch.length);
    for (const command of task.commands) this.#carryOut(command);
    for (const { update, code } of task.refusals) {
      this.updates.delete(update.id);
      for (const hear of update.callers) hear({ refused: code });
    }
    for (const update of task.accepted) update.acceptedAt = task.recordedAt;
    for (const { update, reply } of task.replies) this.#answer(update, reply);
  }

  #show({ state: { phase, attention, lastRead } }: Order): void {
    const { shown, agenda } = this.world;
    shown.push({
      at: agenda.now,
      phase,
      attention: attention.map(({ code }) => code),
      ...(lastRead !== undefined && { readAt: millis(lastRead.at) }),
    });
  }

  #answer(update: Update, outcome: Reply): void {
    update.outcome = outcome;
    this.#checkWait(update);
    const { callers } = update;
    update.callers = [];
    for (const hear of callers) hear(outcome);
  }

  /** Whoever is taken is answered within a bounded time, as long as workers are there and tasks come. */
  #checkWait({ id, acceptedAt = this.world.agenda.now }: Update): void {
    const { agenda, liberties } = this.world;
    const waited = agenda.now - acceptedAt;
    if (waited < LONGEST_WAIT_MS || agenda.spans['workers-away'].length > 0 || liberties.delays) return;
    this.world.fault(`${id} waited ${waited} ms for its answer`);
  }

  #carryOut(command: Command): void {
    switch (command.do) {
      case 'count-signals':
        return;
      case 'start': {
        const { id, effect } = command.running;
        const { call, forbiddenKnown } = effect;
        if (call.kind === 'timer') this.ringAt(id, call.at);
        else this.beginActivity(id, call, { ...this.facts, forbiddenKnown });
        return;
      }
      case 'cancel':
        this.activities.get(command.id)?.stop();
        return;
      case 'drop':
        this.#timers.delete(command.id);
        this.activities.get(command.id)?.end();
        this.activities.delete(command.id);
    }
  }

  /** What activities are told of this run. */
  get facts(): RunFacts {
    return { runId: this.id, wasReset: this.start.wasReset, historyLength: 10, isReplaying: false };
  }

  /** @param facts of the run whose input asks for it */
  beginActivity(number: number, call: ActivityCall, facts: RunFacts): void {
    this.factsOf.set(number, facts);
    const limits = ACTIVITY_OPTIONS[ACTIVITY_OF[call.kind]];
    const asked = { number, call, runId: this.id, facts, limits };
    const activity = new Activity(this.world, asked, (outcome) => {
      if (this.activities.delete(number)) this.arrive({ kind: 'end', id: number, outcome });
    });
    this.activities.set(number, activity);
    this.world.openActivities.add(activity);
  }

  ringAt(number: number, at: Instant): void {
    const { agenda, liberties } = this.world;
    const late = liberties.of('late-timer', this.world.count('timer'))?.ms ?? 0;
    this.#timers.add(number);
    agenda.at(millis(at) + late, () => {
      const outcome = { status: 'completed', result: { kind: 'timer', at } } as const;
      if (this.#timers.delete(number)) this.arrive({ kind: 'end', id: number, outcome });
    });
  }

  endWith(how: Ends): void {
    this.close();
    const last = this.tasks.at(-1)?.number ?? 0;
    if (how === 'continued') this.world.liberties.continued(last, this.start.wasReset);
    this.#onEnd(how);
  }
}
