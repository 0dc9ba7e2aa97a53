/** The worker's part of a run: workflow tasks, the order in its cache, the checkout, and what becomes of a task that is lost. */
import type { CheckedOut } from '../../../src/contract/activity-contract.ts';
import { instant } from '../../../src/contract/words.ts';
import { defined } from '../../../src/order/defined.ts';
import type { Input, Order, Refusal } from '../../../src/order/order.ts';
import { answerBeforeRecord } from '../../../src/order/screening/checkout.ts';
import { inOneLine } from '../judge/in-one-line.ts';
import { brokenBy, snapshotOf } from '../judge/invariants.ts';
import { between } from '../random.ts';
import { checkOut, type Lose } from './checkout.ts';
import { type Known, relive } from './relive.ts';
import type { Run } from './run.ts';
import { type Asked, note, openTask, type Task, type Update } from './task.ts';

export class Worker {
  /** The order can't be screened at all. */
  refusal: Refusal | undefined;
  readonly #run: Run;
  #known: Known | undefined;
  #task: Task | undefined;
  /** Loses the checkout that is under way. */
  #checkout: Lose | undefined;
  #scheduled = false;
  /** How many tasks of this run were lost since the last one that was recorded. */
  #lost = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  /** The order as the worker that knows it has it; undefined: none knows it. */
  get order(): Order | undefined {
    return this.#known?.order;
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
    this.#known = undefined;
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
      agenda.endOf('workers-away') - agenda.now,
      liberties.of('late-task', number)?.ms ?? 0,
    );
    if (late > 0) agenda.at(agenda.now + late, () => this.#runTask(number));
    else this.#runTask(number);
  }

  #runTask(number: number): void {
    if (this.#run.over) return;
    this.#scheduled = false;
    if (this.#run.world.liberties.of('forget', number) !== undefined) this.#known = undefined;
    const task = this.#open(number);
    this.#known ??= this.#takenUp();
    this.#deliver(task, this.#known);
    this.#work(task, this.#known);
  }

  #open(number: number): Task {
    const { agenda, lostTasks } = this.#run.world;
    const lost = lostTasks.at(-1);
    if (lost !== undefined) lost.to = Math.min(lost.to, agenda.now);
    const task = openTask(number, agenda.now);
    this.#task = task;
    return task;
  }

  /** @returns the order as a worker that doesn't know it takes it up from its history */
  #takenUp(): Known {
    const { known, fault } = relive(this.#run.world.rules, this.#run.start, this.#run.tasks);
    this.#run.world.fault(fault);
    this.#checkout = undefined;
    return known;
  }

  /** Puts what has come into the queue: messages as they came, refused ones left out, then outcomes. */
  #deliver(task: Task, known: Known): void {
    const came = this.#run.arrivals.slice(task.batch.length);
    task.batch.push(...came);
    for (const one of came) {
      if (one.kind === 'signal') put(task, known, one.input);
      else if (one.kind === 'update') this.#validate(task, known, one.update);
    }
    for (const one of came) {
      if (one.kind === 'end' && known.order.running.some(({ id }) => id === one.id))
        put(task, known, { kind: 'effect-ended', id: one.id, outcome: one.outcome });
    }
  }

  #validate(task: Task, known: Known, update: Update): void {
    const { world, tasks } = this.#run;
    const at = instant(task.at);
    // What came with the start is judged after the checkout.
    const withStart = tasks.length === 0 && this.#checkout === undefined;
    const early = withStart ? undefined : 'checkout-under-way';
    const sent = defined({ updateId: update.id, key: update.key });
    const input: Asked = { kind: 'request', request: update.ask, at, sent };
    const code = known.screened ? world.rules.inputRefusal(known.order, input)?.code : early;
    if (code !== undefined) {
      task.refusals.push({ update, code });
      return;
    }
    update.input = input;
    task.accepted.push(update);
    put(task, known, input);
  }

  #work(task: Task, known: Known): void {
    const { world, start, tasks } = this.#run;
    const { rules } = world;
    const { order, waiting } = known;
    if (!known.screened) {
      this.#checkOut(task, known);
      return;
    }
    if (start.from === 'continued' && tasks.length === 0) note(task, rules.begin(order), waiting);
    if (world.liberties.continuesAfter(task.number, start.wasReset)) task.wrapsUp = true;
    const batch = rules.resultsFirst(waiting.splice(0));
    for (const [at, input] of batch.entries()) {
      task.taken.push(input);
      if (task.wrapsUp) note(task, rules.wrapUp(order), batch.slice(at));
      const before = snapshotOf(order);
      const commands = rules.step(order, input);
      note(task, commands, batch.slice(at + 1));
      this.#reply(task, known);
      world.inputs += 1;
      world.tell?.(inOneLine(order, input, commands));
      world.fault(brokenBy(before, order, commands, input));
      if (world.faults.length > 0) break;
    }
    if (rules.isFinished(order)) task.ends = 'completed';
    else if (task.wrapsUp && rules.mayContinueAsNew(order)) task.ends = 'continued';
    this.#complete(task);
  }

  /** Notes the replies that are due now with the task. */
  #reply(task: Task, { order, taken }: Known): void {
    for (const update of this.#run.updates.values()) {
      const { input, outcome } = update;
      const asked = (input && taken.get(input)) ?? input;
      if (asked?.kind !== 'request' || asked.taken === undefined) continue;
      if (outcome !== undefined || task.replies.some((one) => one.update === update)) continue;
      const reply = this.#run.world.rules.replyTo(order, asked.taken);
      if (reply !== undefined) task.replies.push({ update, reply });
    }
  }

  #checkOut(task: Task, known: Known): void {
    if (this.#checkout !== undefined) return;
    const { world, tasks, start } = this.#run;
    const again = this.#lost > 0 || tasks.length > 0 || task.inputs.some((one) => one.kind === 'signal');
    const facts = { ...this.#run.facts, historyLength: again ? 10 : 3 };
    const request = { ...world.rules.checkoutRequest(known.order), begun: instant(task.at) };
    const onEnd = (result: CheckedOut | undefined): void => {
      this.#checkout = undefined;
      const { onFirst } = this.#run;
      if (onFirst !== undefined && !again && !start.wasReset && result !== undefined) {
        const answer = answerBeforeRecord(start.input, request, result);
        if (answer !== undefined) onFirst(answer);
      }
      this.#checkedOut(known, result);
    };
    this.#checkout = checkOut(world, request, facts, task.at, onEnd, () => this.#heartbeat());
  }

  #checkedOut(known: Known, result: CheckedOut | undefined): void {
    const task = this.#task;
    const { order, waiting } = known;
    const { rules } = this.#run.world;
    if (task === undefined) return;
    task.checkout = { result };
    known.screened = true;
    const refusal = rules.applyCheckout(order, result);
    rules.arriveNow(waiting, order);
    if (refusal !== undefined) {
      this.refusal = refusal;
      for (const update of this.#run.updates.values())
        if (update.input !== undefined) task.replies.push({ update, reply: { refusal } });
      task.ends = 'completed';
      this.#complete(task);
      return;
    }
    note(task, rules.begin(order), waiting);
    this.#run.world.fault(brokenBy(snapshotOf(order), order, task.all));
    this.#work(task, known);
  }

  /** The task's end so far is recorded, and what came meanwhile is delivered with the next. */
  #heartbeat(): void {
    const task = this.#task;
    if (task === undefined || this.#run.over) return;
    this.#record(task);
    const next = this.#open(this.#run.world.count('task'));
    if (this.#known !== undefined) this.#deliver(next, this.#known);
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
    this.#known = undefined;
    this.refusal = undefined;
    this.schedule(afterMs);
  }

  #record(task: Task): void {
    this.#lost = 0;
    this.#run.record(task, this.order);
  }
}

function put(task: Task, { waiting }: Known, input: Input): void {
  task.inputs.push(input);
  waiting.push(input);
}
