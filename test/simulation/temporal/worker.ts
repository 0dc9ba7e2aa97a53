/** The worker's part of a run: workflow tasks, the order in its cache, the checkout, and what becomes of a task that is lost. */
import type { CheckedOut } from '../../../src/contract/activity-contract.ts';
import { instant } from '../../../src/contract/words.ts';
import { defined } from '../../../src/order/defined.ts';
import type { Command, Input, Order, Refusal } from '../../../src/order/order.ts';
import type { Invariants } from '../judge/invariants.ts';
import { between } from '../random.ts';
import { checkOut, type Lose } from './checkout.ts';
import { relive } from './relive.ts';
import type { Run } from './run.ts';
import { type Asked, isCommand, openTask, type Task, type Update } from './task.ts';

export class Worker {
  /** The order as the worker that knows it has it; undefined: none knows it. */
  order: Order | undefined;
  /** The order can't be screened at all. */
  refusal: Refusal | undefined;
  readonly #run: Run;
  readonly #invariants: Invariants;
  #waiting: Input[] = [];
  #taken = new Map<Input, Input>();
  #screened = false;
  #task: Task | undefined;
  /** Loses the checkout that is under way. */
  #checkout: Lose | undefined;
  #scheduled = false;
  /** How many tasks of this run were lost since the last one that was recorded. */
  #lost = 0;

  constructor(run: Run, invariants: Invariants) {
    this.#run = run;
    this.#invariants = invariants;
  }

  get busy(): boolean {
    return this.#task !== undefined;
  }

  /** Nobody waits for the run any more. */
  leave(): void {
    this.#checkout?.(false);
    this.#checkout = undefined;
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
    const number = this.#run.world.count('task');
    const late = Math.max(
      this.#run.world.workersAwayUntil() - agenda.now,
      liberties.of('late-task', number)?.ms ?? 0,
    );
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
    const { agenda, lostTasks } = this.#run.world;
    const lost = lostTasks.at(-1);
    if (lost !== undefined) lost.to = Math.min(lost.to, agenda.now);
    this.#task = openTask(number, agenda.now);
  }

  /** A worker that doesn't know the order takes it up from its history. */
  #takeUp(): void {
    const relived = relive(this.#run.rules, this.#run.start, this.#run.tasks);
    if (relived.fault !== undefined) this.#run.world.fault(relived.fault);
    this.order = relived.order;
    this.#waiting = relived.waiting;
    this.#taken = relived.taken;
    this.#screened = relived.screened;
    this.#checkout = undefined;
  }

  /** Puts what has come into the queue: messages as they came, refused ones left out, then outcomes. */
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
      const runs = order.running.some(({ id }) => id === one.id);
      if (runs) this.#put({ kind: 'effect-ended', id: one.id, outcome: one.outcome });
    }
  }

  #put(input: Input): void {
    this.#task?.inputs.push(input);
    this.#waiting.push(input);
  }

  #validate(update: Update): void {
    const task = this.#task;
    const { order } = this;
    const { rules, tasks } = this.#run;
    if (task === undefined || order === undefined) return;
    const at = instant(task.at);
    // What came with the start is judged after the checkout.
    const withStart = tasks.length === 0 && this.#checkout === undefined;
    const early = withStart ? undefined : 'checkout-under-way';
    const sent = defined({ updateId: update.id, key: update.key });
    const input: Asked = { kind: 'request', request: update.ask, at, sent };
    const code = this.#screened ? rules.inputRefusal(order, input)?.code : early;
    if (code !== undefined) {
      task.refusals.push({ update, code });
      return;
    }
    update.input = input;
    task.accepted.push(update);
    this.#put(input);
  }

  #note(commands: readonly Command[], left: readonly Input[]): void {
    const task = this.#task;
    if (task === undefined) return;
    for (const command of commands) {
      task.all.push(command);
      if (isCommand(command, left)) task.commands.push(command);
    }
  }

  #work(): void {
    const task = this.#task;
    const { order } = this;
    const { rules, world, start, tasks } = this.#run;
    if (task === undefined || order === undefined) return;
    if (!this.#screened) {
      this.#checkOut(task, order);
      return;
    }
    if (start.from === 'continued' && tasks.length === 0) this.#note(rules.begin(order), this.#waiting);
    if (world.liberties.continuesAfter(task.number, start.wasReset)) task.wrapsUp = true;
    const batch = rules.resultsFirst(this.#waiting.splice(0));
    for (const [at, input] of batch.entries()) {
      task.taken.push(input);
      if (task.wrapsUp) this.#note(rules.wrapUp(order), batch.slice(at));
      this.#invariants.before(order);
      const commands = rules.step(order, input);
      this.#note(commands, batch.slice(at + 1));
      this.#reply(task, order);
      this.#invariants.after(order, input, commands);
      if (world.faults.length > 0) break;
    }
    this.#end(task, order);
  }

  #end(task: Task, order: Order): void {
    const { rules } = this.#run;
    if (rules.isFinished(order)) task.ends = 'completed';
    else if (task.wrapsUp && rules.mayContinueAsNew(order)) task.ends = 'continued';
    this.#complete(task);
  }

  /** Notes the replies that are due now with the task. */
  #reply(task: Task, order: Order): void {
    const { rules, updates } = this.#run;
    for (const update of updates.values()) {
      const { taken } = this.#inputOf(update) ?? {};
      const isDone = update.outcome !== undefined || task.replies.some((one) => one.update === update);
      const reply = isDone || taken === undefined ? undefined : rules.replyTo(order, taken);
      if (reply !== undefined) task.replies.push({ update, reply });
    }
  }

  #inputOf({ input }: Update): Asked | undefined {
    const taken = (input && this.#taken.get(input)) ?? input;
    return taken?.kind === 'request' ? taken : undefined;
  }

  #checkOut(task: Task, order: Order): void {
    const { world, tasks, start, rules, id } = this.#run;
    if (this.#checkout !== undefined) return;
    const again = this.#lost > 0 || tasks.length > 0 || task.inputs.some((one) => one.kind === 'signal');
    const facts = {
      runId: id,
      wasReset: start.wasReset,
      historyLength: again ? 10 : 3,
      isReplaying: false,
    };
    const begun = instant(task.at);
    const request = { ...rules.checkoutRequest(order), begun };
    const onEnd = (result: CheckedOut | undefined): void => {
      this.#checkout = undefined;
      if (!again && !start.wasReset && result !== undefined && result.refusal === undefined)
        this.#run.onFirst?.(result, request);
      this.#checkedOut(order, result);
    };
    this.#checkout = checkOut(world, request, facts, task.at, onEnd, () => this.#heartbeat());
  }

  #checkedOut(order: Order, result: CheckedOut | undefined): void {
    const task = this.#task;
    const { rules } = this.#run;
    if (task === undefined) return;
    task.checkout = { result };
    this.#screened = true;
    const refusal = rules.applyCheckout(order, result);
    if (refusal !== undefined) {
      this.refusal = refusal;
      for (const update of this.#run.updates.values())
        if (update.input !== undefined) task.replies.push({ update, reply: { refusal } });
      task.ends = 'completed';
      this.#complete(task);
      return;
    }
    this.#note(rules.begin(order), this.#waiting);
    this.#invariants.checkedOut(order, task.all);
    this.#work();
  }

  /** The task's end so far is recorded, and what came meanwhile is delivered with the next. */
  #heartbeat(): void {
    const task = this.#task;
    if (task === undefined || this.#run.over) return;
    this.#record(task);
    this.#open(this.#run.world.count('task'));
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
    this.#checkout?.(dies);
    this.#checkout = undefined;
    for (const update of this.#task?.accepted ?? []) delete update.input;
    this.#task = undefined;
    this.order = undefined;
    this.refusal = undefined;
    this.#waiting = [];
    this.schedule(afterMs);
  }

  #record(task: Task): void {
    this.#lost = 0;
    this.#run.record(task, this.order);
  }
}
