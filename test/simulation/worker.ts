/** The worker's part of a run: workflow tasks, the order in its cache, local activities, and what becomes of a task that is lost. */
import type { Command } from '../../src/orders/activity-contract.ts';
import type { End, Input, Order } from '../../src/orders/order.ts';
import { instant } from '../../src/orders/words.ts';
import type { Invariants } from './invariants.ts';
import { LocalActivity } from './local-activity.ts';
import { between } from './random.ts';
import { hasEnded, isLocal, relive } from './relive.ts';
import type { Run } from './run.ts';
import type { Task, Update } from './task.ts';

/** While a local activity runs, the task is heartbeaten, and what came meanwhile is delivered. */
const HEARTBEAT_MS = 2_500;

export class Worker {
  /** The order as the worker that knows it has it; undefined: none knows it. */
  order: Order | undefined;
  readonly #run: Run;
  readonly #invariants: Invariants;
  #waiting: Input[] = [];
  #task: Task | undefined;
  #local: LocalActivity | undefined;
  #scheduled = false;
  /** How many tasks of this run were lost since the last one that was recorded. */
  #lost = 0;
  #asked = 0;

  constructor(run: Run, invariants: Invariants) {
    this.#run = run;
    this.#invariants = invariants;
  }

  get busy(): boolean {
    return this.#task !== undefined;
  }

  /** Nobody waits for the run any more. */
  leave(): void {
    this.#local?.lose(false);
    this.#local = undefined;
  }

  /** It dies: a task that was under way is run again when its time is up. */
  die(): void {
    this.order = undefined;
    if (this.#task !== undefined) this.#lose(10_000, true);
  }

  schedule(afterMs = 0): void {
    if (this.#scheduled || this.#run.over) return;
    this.#scheduled = true;
    const { agenda, life } = this.#run.world;
    const delay = between(1, 20, life.seed, this.#run.tasks.length + this.#lost * 97);
    agenda.at(agenda.now + afterMs + delay, () => this.#beginTask());
  }

  #beginTask(): void {
    if (this.#run.over) return;
    const { agenda, liberties } = this.#run.world;
    const away = this.#run.world.workersAwayUntil();
    const number = this.#run.world.countTask();
    const late = Math.max(away - agenda.now, liberties.of('late-task', number)?.ms ?? 0);
    if (late > 0) agenda.at(agenda.now + late, () => this.#runTask(number));
    else this.#runTask(number);
  }

  #runTask(number: number): void {
    if (this.#run.over) return;
    this.#scheduled = false;
    if (this.#run.world.liberties.of('forget', number) !== undefined) this.order = undefined;
    this.#open(number);
    if (this.order === undefined) this.#takeUp();
    this.#deliver();
    this.#work();
  }

  #open(number: number): void {
    const lost = this.#run.world.lostTasks.at(-1);
    if (lost !== undefined && lost.to > this.#run.world.agenda.now) lost.to = this.#run.world.agenda.now;
    this.#task = {
      number,
      at: this.#run.world.agenda.now,
      recordedAt: 0,
      place: 0,
      over: false,
      batch: [],
      inputs: [],
      locals: new Map(),
      taken: [],
      commands: [],
      all: [],
      replies: [],
      refusals: [],
      accepted: [],
    };
  }

  /** A worker that doesn't know the order takes it up from its history. */
  #takeUp(): void {
    const relived = relive(this.#run.rules, this.#run.start, this.#run.tasks);
    if (relived.fault !== undefined) this.#run.world.fault(relived.fault);
    this.order = relived.order;
    this.#waiting = relived.waiting;
    this.#asked = relived.asked;
    this.#local = undefined;
    if (this.#run.tasks.length === 0) this.#note(relived.first);
    if (relived.local !== undefined) this.#local = this.#localActivity(relived.local);
  }

  /** Puts what has come into the inbox: messages as they came, refused ones left out, then ends. */
  #deliver(): void {
    const task = this.#task;
    const { order } = this;
    if (task === undefined || order === undefined) return;
    const came = this.#run.arrivals.slice(task.batch.length);
    task.batch.push(...came);
    for (const one of came) {
      if (one.kind === 'signal') this.#put(one.input);
      else if (one.kind === 'update') this.#validate(one.update);
    }
    for (const one of came) {
      if (one.kind !== 'end') continue;
      const runs = order.effects.some((effect) => effect.number === one.number);
      if (runs) this.#put({ kind: 'end', number: one.number, end: one.end });
    }
  }

  #put(input: Input): void {
    this.#task?.inputs.push(input);
    this.#waiting.push(input);
  }

  #validate(update: Update): void {
    const task = this.#task;
    const { order } = this;
    const { rules } = this.#run;
    if (task === undefined || order === undefined) return;
    const { message } = update;
    const at = instant(task.at);
    const refused = rules.refusalOf(order, this.#waiting, message.ask, task.at);
    if (refused !== undefined) {
      task.refusals.push({ update, code: refused.code });
      return;
    }
    this.#asked += 1;
    update.ticket = this.#asked;
    task.accepted.push(update);
    this.#put({ kind: 'ask', ticket: this.#asked, at, ask: message.ask });
  }

  #note(commands: Command[]): void {
    const task = this.#task;
    if (task === undefined) return;
    for (const command of commands) {
      task.all.push(command);
      if (command.do === 'stop' && hasEnded(this.#waiting, command)) {
        this.#run.stoppedLate(command.number);
        continue;
      }
      task.commands.push(command);
      if (command.do === 'begin' && isLocal(command)) {
        this.#local = this.#localActivity(command);
      }
    }
  }

  #localActivity({ number, call }: Extract<Command, { do: 'begin' }>): LocalActivity {
    return new LocalActivity(this.#run.world, number, call);
  }

  #work(): void {
    const task = this.#task;
    const { order } = this;
    const { rules, world } = this.#run;
    if (task === undefined || order === undefined) return;
    for (
      let one = rules.next(order, this.#waiting);
      one !== undefined;
      one = rules.next(order, this.#waiting)
    ) {
      task.taken.push(one);
      this.#invariants.before(order);
      const replies = rules.step(order, one);
      const commands = rules.keep(order);
      task.replies.push(...replies);
      this.#note(commands);
      this.#invariants.after(order, one, replies, commands);
      if (world.faults.length > 0) break;
    }
    if (rules.nothingLeft(order)) task.ends = 'completed';
    else if (world.liberties.continuesAfter(task.number, this.#run.start.wasReset) && rules.canStop(order)) {
      task.ends = 'continued';
      task.replies.push(...rules.leave(order));
    }
    if (task.ends === undefined && this.#local !== undefined) this.#runLocal(task, this.#local);
    else this.#complete(task);
  }

  #runLocal(task: Task, local: LocalActivity): void {
    const { agenda } = this.#run.world;
    if (local.runs) return;
    const again =
      this.#lost > 0 ||
      this.#run.tasks.length > 0 ||
      this.#run.start.wasReset ||
      task.inputs.some((one) => one.kind === 'signal');
    const begunAt = task.locals.size === 0 ? task.at : agenda.now;
    local.run(this.#run.id, begunAt, again, (end) => {
      this.#local = undefined;
      this.#tellFirst(local, again, begunAt, end);
      const input = { kind: 'end' as const, number: local.number, end };
      this.#task?.locals.set(local.number, input);
      this.#waiting.push(input);
      this.#work();
    });
    const beat = (): void => {
      if (this.#local !== local || this.#run.over) return;
      this.#heartbeat();
      if (this.#local === local) agenda.at(agenda.now + HEARTBEAT_MS, beat);
    };
    agenda.at(agenda.now + HEARTBEAT_MS, beat);
  }

  #tellFirst({ call }: LocalActivity, again: boolean, begunAt: number, end: End): void {
    if (call.kind !== 'first-screening' || again || end.how !== 'done') return;
    const { result } = end;
    if (result.kind !== 'first-screening') return;
    this.#run.onFirst?.(result, { ...call.request, mayHaveRun: false, begun: instant(begunAt) });
  }

  /** The task's end so far is recorded, and what came meanwhile is delivered with the next. */
  #heartbeat(): void {
    const task = this.#task;
    if (task === undefined) return;
    this.#record(task);
    this.#open(this.#run.world.countTask());
    this.#deliver();
  }

  #complete(task: Task): void {
    const { world } = this.#run;
    const lost = world.liberties.of('lose-task', task.number);
    if (lost !== undefined && world.faults.length === 0) {
      this.#lose(lost.soon ? 20 : 10_000, !lost.zombie);
      return;
    }
    const came = this.#run.arrivals.slice(task.batch.length);
    // The server lets no run end past what it doesn't know of; an update that it doesn't know of is turned away.
    if (task.ends !== undefined && came.some((one) => one.kind !== 'update')) {
      this.#lose(5, true);
      return;
    }
    this.#record(task);
    this.#task = undefined;
    if (task.ends !== undefined) this.#run.endWith(task.ends);
    else if (this.#run.arrivals.length > 0) this.schedule();
  }

  #lose(afterMs: number, dies: boolean): void {
    this.#lost += 1;
    if (this.#task !== undefined)
      this.#run.world.lostTasks.push({ from: this.#task.at, to: Number.POSITIVE_INFINITY });
    this.#run.world.tell?.(`the task is lost${dies ? '' : ', its worker runs on'}`);
    this.#local?.lose(dies);
    this.#local = undefined;
    for (const update of this.#task?.accepted ?? []) delete update.ticket;
    this.#task = undefined;
    this.order = undefined;
    this.#waiting = [];
    this.schedule(afterMs);
  }

  #record(task: Task): void {
    this.#lost = 0;
    this.#run.record(task, this.order);
  }
}
