/** An order in its world: its runs one after the other, and everything that was planned for it. */
import { setImmediate } from 'node:timers/promises';
import { instant } from '../../src/contract/words.ts';
import { defined } from '../../src/order/defined.ts';
import type { Signal } from '../../src/order/order.ts';
import type { BookedNews } from '../books/books.ts';
import { HOUR } from '../fixtures/policies.ts';
import { Callers } from './callers/callers.ts';
import { ANOTHERS_ID, decisionOf } from './network/service.ts';
import { adoptionOf } from './plan/adopted-lives.ts';
import type { ByHand, Call, Happening } from './plan/happenings.ts';
import { type Life, START, transactionOf } from './plan/life.ts';
import type { Rules } from './rules.ts';
import { AfterEnd } from './temporal/after-end.ts';
import { resetRun } from './temporal/reset-run.ts';
import { Run, type Start } from './temporal/run.ts';
import type { Task } from './temporal/task.ts';
import { World } from './world.ts';

/** More than any life needs, also one that asks a wrong key for a whole window, minute by minute. */
const MOST_TURNS = 100_000;
const LONGEST_MS = 70 * 24 * HOUR;

export class OrderWorld {
  readonly world: World;
  readonly callers: Callers;
  /** All runs of the order, the last one is the one that lives, or has ended. */
  readonly runs: Run[] = [];
  /** When the order ended. */
  endedAt: number | undefined;
  #afterEnd: AfterEnd | undefined;
  readonly resets: { to: number; at: number }[] = [];
  readonly continuedAt: number[] = [];
  /** What somebody told the order without waiting for an answer. */
  readonly told: BookedNews[] = [];

  constructor(life: Life, rules: Rules, tell?: (line: string) => void) {
    this.world = new World(life, rules, tell);
    this.callers = new Callers(this.world, () => this.run);
  }

  get run(): Run {
    const run = this.runs.at(-1);
    if (run === undefined) throw new TypeError('the order has not begun');
    return run;
  }

  /** Lives to the end, and to the end of everything that was on its way then. */
  async live(): Promise<void> {
    const { world } = this;
    const { agenda, faults } = world;
    this.#begin();
    for (const [index, one] of world.life.happenings.entries()) this.#plan(one, index);
    for (let turn = 0; faults.length === 0 && agenda.next(); turn += 1) {
      if (world.takeCodeRan()) await setImmediate();
      if (turn > MOST_TURNS) world.fault('it runs in circles');
      if (agenda.now > START + LONGEST_MS) world.fault('it never ends');
    }
    if (faults.length === 0 && this.endedAt === undefined) world.fault('the order stands still');
  }

  #begin(): void {
    const { life, stash, service } = this.world;
    const { card, start, answerByMs, adopted } = life;
    const orderId = `S${life.seed}N1`;
    if (adopted !== undefined) service.begin(orderId, 1, adopted.decision, START - adopted.ageMs);
    if (card) stash.until.set('card-1', START + 900_000);
    const run = this.newRun('run-1', {
      from: 'new',
      input: {
        orderId,
        integration: life.integration,
        transaction: transactionOf(life, 1),
        fingerprint: 'f-1',
        ...(card && { cardRef: 'card-1' }),
        ...(adopted !== undefined && { adopt: adoptionOf(adopted) }),
        ...(answerByMs !== undefined && { answerBy: instant(START + answerByMs) }),
      },
      startedAt: START,
      wasReset: false,
    });
    run.worker.schedule();
    if (start === 'fast') run.onFirst = (answer) => this.callers.toldBefore(answer);
    const sent = { at: 0, times: 1, id: 'fixed' } as const;
    const decision: Call = { do: 'decision', attempt: 1, content: 'same', ...sent };
    const call: Call = adopted === undefined ? decision : { do: 'adopt', ...sent };
    if (start !== 'plain') this.callers.make(call, 'first');
    else this.world.agenda.at(START + 9_000, () => this.callers.make(call, 'first'));
  }

  /** @returns the run that has the order from now on */
  newRun(id: string, start: Start): Run {
    const { world } = this;
    const run = new Run(world, id, start, (how) => this.#ended(run, how));
    this.runs.push(run);
    world.tell?.(`${id} begins`);
    return run;
  }

  #ended(before: Run, how: Task['ends']): void {
    const { world } = this;
    const { order } = before;
    if (order === undefined) return;
    const left = before.inFlight();
    if (how === 'completed') {
      this.endedAt = world.agenda.now;
      world.tell?.('the order ends');
      for (const one of left) {
        if (one.acceptedAt !== undefined) world.fault(`${one.id} was taken, and never answered`);
        for (const hear of one.callers) hear('closed');
      }
      if (order.state.transactions.length === 0) return;
      this.#afterEnd = new AfterEnd(world, order.state);
      if (order.reads.length > 0) this.#afterEnd.ask();
      return;
    }
    this.continuedAt.push(world.agenda.now);
    const next = JSON.stringify(world.rules.resumed(order));
    const run = this.newRun(`run-${this.runs.length + 1}`, {
      ...before.start,
      from: 'continued',
      order: next,
      wasReset: world.rules.keepsReset(before.start.wasReset),
    });
    for (const one of left) run.take(one);
    run.worker.schedule();
  }

  #plan(one: Happening, index: number): void {
    if (!('at' in one)) return;
    const { agenda } = this.world;
    const happen = (): void => this.#happen(one, index);
    if (one.afterAnswer === true) {
      this.callers.whenAnswered(() => agenda.at(agenda.now + one.at, happen));
    } else agenda.at(START + one.at, happen);
  }

  #happen(one: Extract<Happening, { at: number }>, index: number): void {
    const { world } = this;
    switch (one.do) {
      case 'hint':
        for (let time = 1; time <= one.times; time += 1)
          this.#signal('review-hint', this.callers.named(one.named));
        return;
      case 'recheck':
        for (let time = 1; time <= one.times; time += 1) this.#signal('recheck');
        return;
      case 'cancellation':
        this.#signal('cancellation');
        return;
      case 'analyst':
        this.#decide(one);
        return;
      case 'reset':
        if (this.endedAt !== undefined || !resetRun(this, one.toTask)) return;
        this.resets.push({ to: this.run.tasks.at(-1)?.recordedAt ?? START, at: world.agenda.now });
        return;
      case 'broken':
        world.stir();
        return;
      case 'uncovered':
        world.service.covered = false;
        for (const transaction of world.service.transactions) transaction.covered = false;
        return;
      case 'outage':
      case 'workers-away':
      case 'wrong-key':
      case 'slow':
      case 'receiver-down':
      case 'no-integration':
      case 'no-key':
      case 'stash-down':
        world.tell?.(`${one.do} for ${one.ms} ms`);
        world.agenda.begin(one.do, one.ms);
        if (one.do === 'wrong-key') world.stir();
        if (one.do === 'workers-away') this.#workersDie();
        return;
      default:
        this.callers.make(one, `key-${index}`);
    }
  }

  #workersDie(): void {
    this.world.kill();
    if (this.endedAt === undefined) this.run.worker.die();
  }

  /** An analyst decides the first transaction, or one in review, else the newest; its webhook follows. */
  #decide({ decision, webhook, first }: Extract<ByHand, { do: 'analyst' }>): void {
    const { agenda, service, tell } = this.world;
    const { transactions } = service;
    const waiting = transactions.findLast((one) => decisionOf(one) === 'review') ?? transactions.at(-1);
    const transaction = first ? transactions[0] : waiting;
    if (transaction === undefined) return;
    const before = decisionOf(transaction);
    if (before === decision) return;
    // What becomes of an `error` is out of sight by a shared invoice number (docs/rules.md, «What can’t be promised»).
    if (before === 'error' && !this.world.life.policy.invoicePerAttempt) return;
    transaction.decisions.push({ decision, at: agenda.now });
    tell?.(`an analyst decides ${transaction.id}: ${decision}`);
    this.world.stir();
    if (webhook === 'lost') return;
    agenda.at(agenda.now + (webhook === 'late' ? 45_000 : 20), () => {
      if (webhook === 'forged') this.#signal('review-hint', ANOTHERS_ID);
      this.#signal('review-hint', transaction.id);
      if (webhook === 'doubled') this.#signal('review-hint', transaction.id);
    });
  }

  #signal(kind: Signal['kind'], transactionId?: string): void {
    // What names another order's transaction doesn't find an order that has ended.
    const isLate = this.endedAt !== undefined && kind !== 'cancellation' && transactionId !== ANOTHERS_ID;
    if (isLate) {
      this.#afterEnd?.ask();
      this.world.closeBooksIn(HOUR);
    }
    if (!this.run.over || isLate) {
      const what = kind === 'review-hint' ? 'hint' : kind;
      this.told.push({ at: this.world.agenda.now, what, ...defined({ transactionId }) });
    }
    const sent = kind === 'recheck' && { sentAt: instant(this.world.agenda.now) };
    this.run.arrive({ kind: 'signal', input: { kind: 'signal', signal: { kind, ...sent } } });
  }
}
