/**
 * One order is one workflow: the checkout, followed by a loop around the kernel.
 *
 * Invariants. A replay must produce the same commands in the same order, although it may split the history into different tasks: it joins a
 * workflow task without commands with the next one (the SDK's core, `history_update.rs`, `find_end_index_of_next_wft_seq`), and it may see
 * a local activity's result one task earlier (`managed_run.rs`, `prepare_complete_resp`). Check both before you upgrade the SDK.
 *
 * 1. The checkout's local activity runs alone, before the loop. Until it has ended, validators refuse updates except those that came with the
 *    start; signals wait in the queue.
 * 2. Within an activation, results are applied first, in the order of history, then messages: each effect's outcome arrives after as many
 *    promises as any other's.
 * 3. All consequences of an input (effects, search attributes, replies) are carried out before the next input is applied.
 * 4. A message records a command in its own task. A signal starts a read. Signals beyond the two pending reads are only counted, in one
 *    small memo update per task, without reconciling or showing anything: one task may contain ten thousand of them.
 * 5. Handlers only queue an input, wait in a scope that can't be canceled, and reply from the order.
 * 6. A result is applied at its own time, never at the workflow's clock; a signal at the order's newest known time.
 * 7. The outcome of a dropped effect is ignored; the outcome of a canceled write is awaited. Effect numbers are never reused.
 * 8. The order finishes or continues as new only with an empty queue, no write in flight and no caller waiting. This is checked again after
 *    the last caller got its reply.
 * 9. order-screening never queries a running order: a query to a run that is not in the cache delivers pending events in a separate
 *    activation. Facts about resets and replays are activity input only.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  startChild,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { CheckedOut } from '../contract/activity-contract.ts';
import { afterEndWorkflowId, DEFAULT_INTEGRATION } from '../contract/ids.ts';
import type { LateDecision } from '../contract/order/order.ts';
import type { OrderState } from '../contract/order/state.ts';
import { isSupported } from '../contract/version.ts';
import { instant } from '../contract/words.ts';
import { LATE_DECISIONS, READ_AFTER_END, readAfterEndInput } from '../order/after-end.ts';
import { begin, isFinished, mayContinueAsNew, resultsFirst, resumed, step, wrapUp } from '../order/kernel.ts';
import { whyUnread } from '../order/messages/check-messages.ts';
import type { Input, Order, OrderRun, Refusal } from '../order/order.ts';
import { newOrder } from '../order/record.ts';
import { applyCheckout, checkoutRequest } from '../order/screening/checkout.ts';
import { recordOf } from '../order/view/bounded-record.ts';
import { memoOf } from '../order/view/order-memo.ts';
import { failureOf, runFacts, screenAtCheckout } from './activities.ts';
import { refusedStart } from './check-start.ts';
import { Effects } from './effects.ts';
import { type Intake, registerHandlers } from './handlers.ts';
import { Show } from './show.ts';

/**
 * Screens an order and runs it until nothing is pending.
 * @returns the order's final state
 * @throws `invalid-request`, `card-data-in-request` or `unknown-integration` if it can't be screened at all
 */
export async function screenOrder(input: OrderRun): Promise<OrderState> {
  const refusal = refusedStart(input);
  const intake: Intake = { isClosed: false, waiting: 0, ...(refusal !== undefined && { refusal }) };
  const inputs: Input[] = [];
  const order = refusal === undefined ? orderOf(input, workflowInfo().startTime) : undefined;
  registerHandlers(order, inputs, intake);
  if (order === undefined) throw failureOf(required(refusal));
  return CancellationScope.nonCancellable(() => new Run(input, order, inputs, intake).execute());
}

function orderOf({ resume, ...input }: OrderRun, startTime: Date): Order {
  const { integration = DEFAULT_INTEGRATION } = input;
  const order = resume ?? newOrder({ ...input, integration }, instant(startTime.getTime()));
  // Fails the workflow task until a worker that supports the order's version takes it.
  if (!isSupported(order.version))
    throw new Error(`This worker does not run version ${order.version}. Deploy a release that does.`);
  return order;
}

class Run {
  readonly #input: OrderRun;
  readonly #order: Order;
  readonly #inputs: Input[];
  readonly #intake: Intake;
  readonly #effects: Effects;
  readonly #show: Show;

  constructor(input: OrderRun, order: Order, inputs: Input[], intake: Intake) {
    this.#input = input;
    this.#order = order;
    this.#inputs = inputs;
    this.#intake = intake;
    this.#effects = new Effects(inputs, () => runFacts(input.wasReset));
    this.#show = new Show(order);
  }

  async execute(): Promise<OrderState> {
    if (this.#input.resume === undefined) await this.#checkOut();
    if (this.#intake.refusal === undefined) {
      this.#effects.carryOut(begin(this.#order));
      await this.#shown();
      do {
        await this.#untilFinished();
        await condition(allHandlersFinished);
        if (this.#inputs.length === 0 && isFinished(this.#order)) await this.#handOver();
        // A message may have arrived while the last callers got their replies.
      } while (this.#inputs.length > 0);
      if (!isFinished(this.#order)) await this.#continueAsNew();
    }
    await condition(allHandlersFinished);
    const { state } = this.#order;
    if (this.#intake.refusal === undefined) return state;
    if (state.endedAt === undefined) throw failureOf(this.#intake.refusal);
    this.#show.changes(this.#order);
    return state;
  }

  async #checkOut(): Promise<void> {
    this.#intake.isClosed = true;
    const request = { ...checkoutRequest(this.#order), begun: instant(Date.now()) };
    const facts = runFacts(this.#input.wasReset);
    // A signal that arrived before the first task also makes the history longer, without meaning that a task was lost.
    const signals = this.#inputs.filter(({ kind }) => kind === 'signal').length;
    const run = { ...facts, historyLength: facts.historyLength - signals };
    const refusal = applyCheckout(this.#order, await checkedOut(request, run));
    this.#intake.isClosed = false;
    if (refusal !== undefined) this.#intake.refusal = refusal;
  }

  async #untilFinished(): Promise<void> {
    for (;;) {
      if (this.#inputs.length === 0 && (isFinished(this.#order) || this.#mayContinueAsNew())) return;
      await condition(() => this.#inputs.length > 0);
      await wholeActivation();
      let counted = false;
      for (const input of resultsFirst(this.#inputs.splice(0))) {
        // Before each input: a replay that joins tasks may call this earlier, and it must take effect at the same point.
        if (workflowInfo().continueAsNewSuggested) this.#effects.carryOut(wrapUp(this.#order));
        const commands = step(this.#order, input);
        this.#effects.carryOut(commands);
        const count = commands.find((one) => one.do === 'count-signals');
        if (count !== undefined) counted = true;
        if (!count?.nothingElse) await this.#shown();
      }
      if (counted) upsertMemo({ signals: this.#order.signals });
    }
  }

  #mayContinueAsNew(): boolean {
    return workflowInfo().continueAsNewSuggested && mayContinueAsNew(this.#order);
  }

  /** Shows the order, and lets replies be sent. */
  async #shown(): Promise<void> {
    this.#show.changes(this.#order);
    if (this.#intake.waiting === 0) return;
    await wholeActivation();
    await wholeActivation();
  }

  /** Starts a workflow for the reads that were pending when the order ended, unless that workflow is already running. */
  async #handOver(): Promise<void> {
    const { readsAfterEnd, state } = this.#order;
    if (readsAfterEnd !== true || state.transactions.length === 0) return;
    delete this.#order.readsAfterEnd;
    const decisions: LateDecision[] = [];
    try {
      await startChild(READ_AFTER_END, {
        workflowId: afterEndWorkflowId(state),
        args: [readAfterEndInput(state, decisions)],
        memo: { [LATE_DECISIONS]: decisions },
        parentClosePolicy: 'ABANDON',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  #continueAsNew(): Promise<never> {
    const { wasReset } = runFacts(this.#input.wasReset);
    // Temporal would pass on the memo that this run started with.
    const memo = memoOf(recordOf(this.#order.state));
    // `resume` has the part of the transaction that the order still needs: passing it twice could exceed Temporal's 2 MB.
    return makeContinueAsNewFunc<typeof screenOrder>({ memo })({
      ...this.#input,
      transaction: {},
      wasReset,
      resume: resumed(this.#order),
    });
  }
}

/** Returns undefined if the activity failed or timed out: a create may have been sent. */
async function checkedOut(...request: Parameters<typeof screenAtCheckout>): Promise<CheckedOut | undefined> {
  try {
    const result = await screenAtCheckout(...request);
    return whyUnread(result) === undefined ? result : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Waits until all jobs of the activation are applied, which is when conditions are checked again. Otherwise a message could wake the loop
 * before a result of the same activation is known.
 */
async function wholeActivation(): Promise<void> {
  let checked = false;
  await condition(() => {
    const before = checked;
    checked = true;
    return before;
  });
}

function required(refusal: Refusal | undefined): Refusal {
  if (refusal === undefined) throw new TypeError('an order is refused or not');
  return refusal;
}
