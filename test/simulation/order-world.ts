/** An order in its world: its runs one after the other, and everything that was planned for it. */
import { instant } from '../../src/contract/words.ts';
import type { BookedNews } from '../books/books.ts';
import { idOf, transactionOf } from './asks.ts';
import { Callers } from './callers.ts';
import type { ByHand, Call, Happening } from './happenings.ts';
import { type Life, START } from './life.ts';
import { resetRun } from './reset-run.ts';
import type { Rules } from './rules.ts';
import { type Ending, Run, type Start } from './run.ts';
import { ANOTHERS_ID, decisionOf } from './service.ts';
import { INTEGRATION } from './workers.ts';
import { World } from './world.ts';

const MOST_TURNS = 100_000;
const LONGEST_MS = 70 * 24 * 3_600_000;

export class OrderWorld {
  readonly world: World;
  readonly callers: Callers;
  readonly runs: Run[] = [];
  endedAt: number | undefined;
  readonly resets: { to: number; at: number }[] = [];
  readonly news: BookedNews[] = [];
  readonly #rules: Rules;

  constructor(life: Life, rules: Rules, tell?: (line: string) => void) {
    this.#rules = rules;
    this.world = new World(life, tell);
    this.callers = new Callers(this.world, () => this.run);
  }

  get run(): Run {
    const run = this.runs.at(-1);
    if (run === undefined) throw new TypeError('the order has not begun');
    return run;
  }

  /** Lives until nothing is due any more. */
  async live(): Promise<void> {
    const { world } = this;
    const { agenda, faults } = world;
    this.#begin();
    for (const [index, one] of world.life.happenings.entries()) this.#plan(one, index);
    for (let turn = 0; faults.length === 0 && agenda.next(); turn += 1) {
      await promisesSettled();
      if (turn > MOST_TURNS) world.fault('it runs in circles');
      if (agenda.now > START + LONGEST_MS) world.fault('it never ends');
    }
    if (faults.length === 0 && this.endedAt === undefined) world.fault('the order stands still');
  }

  #begin(): void {
    const { life, stash, service } = this.world;
    const { card, start, answerByMs, adopted } = life;
    const orderId = `S${life.seed}N1`;
    if (adopted !== undefined) service.create(orderId, 1, adopted.decision, START - adopted.ageMs);
    if (card) stash.set('card-1', START + 900_000);
    const run = this.newRun('run-1', {
      from: 'new',
      input: {
        orderId,
        integration: INTEGRATION,
        transaction: transactionOf(life, 1),
        fingerprint: 'f-1',
        ...(card && { cardRef: 'card-1' }),
        ...(adopted !== undefined && { adopt: adopted.adopt }),
        ...(answerByMs !== undefined && { answerBy: instant(START + answerByMs) }),
      },
      startedAt: START,
      wasReset: false,
    });
    run.worker.schedule();
    const sent = { at: 0, times: 1, id: 'fixed' } as const;
    const call: Call =
      adopted === undefined
        ? { do: 'decision', attempt: 1, content: 'same', ...sent }
        : { do: 'adopt', ...sent };
    if (start !== 'plain') this.callers.make(call, 'first');
    else this.world.agenda.at(START + 9_000, () => this.callers.make(call, 'first'));
  }

  newRun(id: string, start: Start): Run {
    const { world } = this;
    const run = new Run(world, this.#rules, id, start, (ending) => this.#ended(run, ending));
    this.runs.push(run);
    world.tell?.(`${id} begins`);
    return run;
  }

  #ended(before: Run, { how, order, left }: Ending): void {
    const { world } = this;
    if (how === 'completed') {
      this.endedAt = world.agenda.now;
      world.tell?.('the order ends');
      for (const one of left) {
        if (one.acceptedAt !== undefined) world.fault(`${one.id} was taken, and never answered`);
        for (const hear of one.callers) hear('closed');
      }
      return;
    }
    const next = JSON.stringify(this.#rules.resumed(order));
    const run = this.newRun(`run-${this.runs.length + 1}`, {
      ...before.start,
      from: 'continued',
      order: next,
      wasReset: this.#rules.keepsReset(before.start.wasReset),
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
    const { agenda } = this.world;
    switch (one.do) {
      case 'hint':
        for (let time = 1; time <= one.times; time += 1) this.#signal('hint', idOf(this.world, one.named));
        return;
      case 'recheck':
      case 'cancellation':
        for (let time = 1; time <= one.times; time += 1) this.#signal(one.do);
        return;
      case 'analyst':
        this.#decide(one);
        return;
      case 'reset':
        if (this.endedAt === undefined && resetRun(this, one.toTask))
          this.resets.push({ to: this.run.tasks.at(-1)?.recordedAt ?? START, at: agenda.now });
        return;
      case 'broken':
        this.world.stir();
        return;
      case 'workers-away':
        this.world.kill(one.ms);
        if (this.endedAt === undefined) this.run.worker.die();
        return;
      case 'outage':
      case 'wrong-key':
      case 'slow':
      case 'receiver-down':
      case 'no-integration':
      case 'no-key':
        this.world.begin(one.do, one.ms);
        if (one.do === 'wrong-key') this.world.stir();
        return;
      default:
        this.callers.make(one, `key-${index}`);
    }
  }

  /** An analyst decides a transaction in review, else the newest; its webhook follows. */
  #decide({ decision, webhook }: Extract<ByHand, { do: 'analyst' }>): void {
    const { agenda, service, tell } = this.world;
    const transaction =
      service.transactions.findLast((one) => decisionOf(one) === 'review') ?? service.transactions.at(-1);
    if (transaction === undefined || decisionOf(transaction) === decision) return;
    // What becomes of an `error` is out of sight by a shared invoice number (docs/rules.md, «What can’t be promised»).
    if (decisionOf(transaction) === 'error' && !this.world.life.policy.invoicePerAttempt) return;
    transaction.decisions.push({ decision, at: agenda.now });
    tell?.(`an analyst decides ${transaction.id}: ${decision}`);
    this.world.stir();
    const { id } = transaction;
    const send = (): void => {
      if (webhook === 'forged') this.#signal('hint', ANOTHERS_ID);
      this.#signal('hint', id);
      if (webhook === 'doubled') this.#signal('hint', id);
    };
    if (webhook === 'lost') return;
    agenda.at(agenda.now + (webhook === 'late' ? 45_000 : 20), send);
  }

  #signal(what: BookedNews['what'], transactionId?: string): void {
    const { now: at } = this.world.agenda;
    if (!this.run.over) this.news.push({ at, what, ...(transactionId !== undefined && { transactionId }) });
    const kind = what === 'hint' ? 'review-hint' : what;
    this.run.arrive({ kind: 'signal', input: { kind: 'signal', signal: { kind } } });
  }
}

function promisesSettled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
