/** The loop of an order: takes in what comes, one input after the other, and begins and stops what the order wants after each. */
import {
  ActivityFailure,
  CancellationScope,
  condition,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  metricMeter,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Call, Command } from '../orders/activity-contract.ts';
import { answerBeforeContinuing } from '../orders/ask.ts';
import { recordOf } from '../orders/bounded-record.ts';
import { describe, searchAttributesOf } from '../orders/describe.ts';
import { counterOf } from '../orders/metrics.ts';
import { type End, type Input, type Order, type OrderRun, type Reply, RULES_READ } from '../orders/order.ts';
import { memoOf, WrittenMemo } from '../orders/order-memo.ts';
import { currentAttempt } from '../orders/record.ts';
import type { OrderState } from '../orders/state.ts';
import { canStop, isReady, isShown, keep, next, nothingLeft, resumed, step } from '../orders/step.ts';
import { perform } from './activities.ts';
import { endOfFailure } from './perform.ts';

/** What an order lives by. */
export interface Rules {
  /** The numbers of the rules that `step` and `keep` know. */
  numbers: readonly number[];
  step: typeof step;
  keep: (order: Order) => Command[];
}

export const RULES: Rules = { numbers: RULES_READ, step, keep: (order) => keep(order) };

/** What the loop works on: an order, what waits to be taken in, who gets the answers, and who is shown the state. */
export interface Loop {
  rules: Rules;
  order: Order;
  inbox: Input[];
  reply: (replies: readonly Reply[]) => void;
  show: Show;
}

/** Lives the order until nothing is left to wait for, and everybody has an answer; goes on as new when its history is long. */
export async function live({ rules, order, inbox, reply, show }: Loop, input: OrderRun): Promise<void> {
  const effects = new Effects(inbox);
  requireKnownRules(rules, order);
  effects.carryOut(rules.keep(order));
  for (;;) {
    if (isShown(order)) show.changes(order);
    if (nothingLeft(order)) return;
    if (workflowInfo().continueAsNewSuggested && canStop(order)) {
      reply(answerBeforeContinuing(order));
      await everythingThatCame();
      // What the order still needs of the transaction is in `resume`: with it twice, a large one would pass Temporal's 2 MB.
      // Temporal would hand on the memo that this run began with.
      await makeContinueAsNewFunc({ memo: memoOf(recordOf(order.state)) })({
        ...input,
        transaction: {},
        resume: resumed(order),
      });
    }
    await condition(() => isReady(order, inbox));
    await everythingThatCame();
    for (let one = next(order, inbox); one !== undefined; one = next(order, inbox)) {
      reply(rules.step(order, one));
      requireKnownRules(rules, order);
      effects.carryOut(rules.keep(order));
    }
  }
}

/**
 * Conditions are looked at again when everything that Temporal brought has been taken in, and not before: a message may wake
 * the loop before an end that came with it is known.
 */
async function everythingThatCame(): Promise<void> {
  let asked = false;
  await condition(() => {
    const before = asked;
    asked = true;
    return before;
  });
}

/** An order of other rules waits, by failing its workflow task, for a worker that knows them. */
function requireKnownRules({ numbers }: Rules, { rules }: Order): void {
  if (rules === 0 || numbers.includes(rules)) return;
  throw new Error(
    `This worker does not know rules ${rules}: it knows ${numbers.join(', ')}. Deploy a release that does.`,
  );
}

/** What an order has under way: activities and timers, begun and stopped in the order in which they are named. */
class Effects {
  readonly #inbox: Input[];
  readonly #running = new Map<number, CancellationScope>();

  /** @param inbox gets how each effect ended */
  constructor(inbox: Input[]) {
    this.#inbox = inbox;
  }

  /** Carries the commands out. */
  carryOut(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.do === 'begin') this.#begin(command.number, command.call);
      else this.#stop(command.number, command.waits);
    }
  }

  #begin(number: number, call: Call): void {
    const scope = new CancellationScope();
    this.#running.set(number, scope);
    scope
      .run(() => perform(call))
      .then(
        (result) => this.#ended(number, { how: 'done', result }),
        (error: unknown) => this.#ended(number, endOf(error, call)),
      );
  }

  /** A stopped read isn't waited for: when the server says that it is over isn't in the history, so that a replay couldn't repeat it. */
  #stop(number: number, waits: boolean): void {
    this.#running.get(number)?.cancel();
    if (!waits) this.#running.delete(number);
  }

  #ended(number: number, end: End): void {
    if (this.#running.delete(number)) this.#inbox.push({ kind: 'end', number, end });
  }
}

function endOf(error: unknown, { kind }: Call): End {
  if (isCancellation(error)) return { how: 'cut-off' };
  // What a local activity throws may come as it is.
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const end = endOfFailure(cause);
  if (end.refused === undefined) {
    log.error('an activity failed for good', { effect: kind, error: String(error) });
  }
  return end;
}

// What ops are shown of an order: search attributes and the record in the memo, one upsert for all that changed, the words, and metrics.

export class Show {
  readonly #metrics: OrderMetrics;
  readonly #shown = new Map<string, string>();
  readonly #memo = new WrittenMemo();

  /** @param order as it begins, or as it continues as new: then the run before has written its memo */
  constructor(order: Order) {
    this.#metrics = new OrderMetrics(order.state);
    if (workflowInfo().continuedFromExecutionRunId !== undefined) this.#memo.isNews(recordOf(order.state));
  }

  /** Shows what changed since the last call. */
  changes(order: Order): void {
    const changed = searchAttributesOf(order).filter(({ key, value }) => {
      const text = JSON.stringify(value);
      if (this.#shown.get(key.name) === text) return false;
      this.#shown.set(key.name, text);
      return true;
    });
    if (changed.length > 0) upsertSearchAttributes(changed);
    const record = recordOf(order.state);
    if (this.#memo.isNews(record)) upsertMemo(memoOf(record));
    setCurrentDetails(describe(order));
    this.#metrics.note(order.state);
  }
}

// Counts what becomes of an order. A metric is no command: it leaves no trace in the history, and a replay
// counts nothing.

// Made when they are needed: while a module is loaded there is no workflow yet.
const decisions = () => counterOf(metricMeter, 'order_screening_decisions_total');
const attention = () => counterOf(metricMeter, 'order_screening_attention_total');

class OrderMetrics {
  #decision: OrderState['decision'];
  #raised: readonly string[];

  /** @param state as the order begins, or continues as new: what it has is counted already */
  constructor(state: OrderState) {
    this.#decision = state.decision;
    this.#raised = codes(state);
  }

  /** Counts what is new since the last call. */
  note(state: OrderState): void {
    const { integration, decision } = state;
    if (decision !== this.#decision) {
      const source = currentAttempt(state).readings.at(-1)?.source ?? 'checkout';
      if (decision !== 'pending') decisions().add(1, { integration, decision, source });
      this.#decision = decision;
    }
    for (const reason of codes(state)) {
      if (!this.#raised.includes(reason)) attention().add(1, { integration, reason });
    }
    this.#raised = codes(state);
  }
}

function codes(state: OrderState): string[] {
  return state.attention.map(({ code }) => code);
}
