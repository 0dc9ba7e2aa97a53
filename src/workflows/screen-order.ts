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
 * 6. A result is applied at its own time, never at the workflow's clock; a signal, and a message that arrived with the start, at the order's
 *    newest known time.
 * 7. The outcome of a dropped effect is ignored; the outcome of a canceled write is awaited. Effect numbers are never reused.
 * 8. The order finishes or continues as new only with an empty queue, no write in flight and no caller waiting. This is checked again after
 *    the last caller got its reply.
 * 9. order-screening never queries a running order: a query to a run that is not in the cache delivers pending events in a separate
 *    activation. Facts about resets and replays are activity input, or fail the task: no command depends on them.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  makeContinueAsNewFunc,
  startChild,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { FIRST_TASK_EVENTS } from '../contract/activity-contract.ts';
import { afterEndWorkflowId, DEFAULT_INTEGRATION } from '../contract/ids.ts';
import { recheckSignal } from '../contract/messages.ts';
import type { OrderState } from '../contract/order/state.ts';
import { isSupported } from '../contract/version.ts';
import { instant } from '../contract/words.ts';
import { LATE_DECISIONS, READ_AFTER_END, readAfterEndInput } from '../order/after-end.ts';
import {
  arriveNow,
  begin,
  isFinished,
  mayContinueAsNew,
  resultsFirst,
  resumed,
  step,
  wrapUp,
} from '../order/kernel.ts';
import { invalid, lacksKey, startRefusal, whyUnread } from '../order/messages/check-messages.ts';
import { fieldsOf } from '../order/messages/shapes.ts';
import type { Order, OrderRun, Refusal } from '../order/order.ts';
import { newOrder } from '../order/record.ts';
import { applyCheckout, checkoutRequest } from '../order/screening/checkout.ts';
import { recordOf } from '../order/view/bounded-record.ts';
import { memoOf } from '../order/view/order-memo.ts';
import { effectsInto, failureOf, runFacts, screenAtCheckout } from './activities.ts';
import { type Intake, registerHandlers } from './handlers.ts';
import { showing } from './show.ts';

/**
 * Screens an order and runs it until nothing is pending.
 * @returns the order's final state
 * @throws `invalid-request`, `card-data-in-request` or `unknown-integration` if it can't be screened at all
 */
export async function screenOrder(input: OrderRun): Promise<OrderState> {
  requireVersion(input);
  const begun = refusedStart(input) ?? orderOf(input);
  const known = 'code' in begun ? { refusal: begun } : { order: begun };
  const intake: Intake = { ...known, inputs: [], isClosed: false, waiting: 0 };
  registerHandlers(intake);
  if ('code' in begun) throw failureOf(begun);
  return CancellationScope.nonCancellable(() => run(input, begun, intake));
}

function orderOf({ resume, ...input }: OrderRun): Order {
  const { integration = DEFAULT_INTEGRATION } = input;
  return resume ?? newOrder({ ...input, integration }, instant(workflowInfo().startTime.getTime()));
}

async function run(input: OrderRun, order: Order, intake: Intake): Promise<OrderState> {
  const { inputs } = intake;
  const carryOut = effectsInto(inputs, () => runFacts(input.wasReset));
  const show = showing(order);

  /** Lets the replies to an input be sent. */
  const replied = async (): Promise<void> => {
    if (intake.waiting === 0) return;
    await wholeActivation();
    await wholeActivation();
  };

  const untilFinished = async (): Promise<void> => {
    for (;;) {
      const isLong = workflowInfo().continueAsNewSuggested;
      if (inputs.length === 0 && (isFinished(order) || (isLong && mayContinueAsNew(order)))) return;
      await condition(() => inputs.length > 0);
      await wholeActivation();
      let counted = false;
      const batch = resultsFirst(inputs.splice(0));
      for (const [index, one] of batch.entries()) {
        // Before each input: a replay that joins tasks may call this earlier, and it must take effect at the same point.
        if (workflowInfo().continueAsNewSuggested) carryOut(wrapUp(order));
        const commands = step(order, one);
        carryOut(commands);
        const count = commands.find((command) => command.do === 'count-signals');
        if (count !== undefined) counted = true;
        if (count?.nothingElse) continue;
        show();
        // Before the next input changes what they say; the last one's are sent while the order waits for more.
        if (index < batch.length - 1 || inputs.length > 0) await replied();
      }
      if (counted) upsertMemo({ signals: order.signals });
    }
  };

  if (input.resume === undefined) await checkOut(input, order, intake);
  if (intake.refusal === undefined) {
    carryOut(begin(order));
    const asked = inputs[0]?.kind === 'request' ? inputs.shift() : undefined;
    // The caller who started the order is waiting, so the checkout and this question are published together.
    if (asked !== undefined) carryOut(step(order, asked));
    show();
    if (inputs.length > 0) await replied();
    do {
      await untilFinished();
      await condition(allHandlersFinished);
      if (inputs.length === 0 && isFinished(order)) await handOver(order);
      // A message may have arrived while the last callers got their replies.
    } while (inputs.length > 0);
    if (!isFinished(order)) await continueAsNew(input, order);
  }
  await condition(allHandlersFinished);
  if (intake.refusal === undefined) return order.state;
  if (order.state.endedAt === undefined) throw failureOf(intake.refusal);
  show();
  return order.state;
}

async function checkOut(input: OrderRun, order: Order, intake: Intake): Promise<void> {
  intake.isClosed = true;
  const request = { ...checkoutRequest(order), begun: instant(Date.now()) };
  const facts = runFacts(input.wasReset);
  const run = { ...facts, historyLength: lengthWithoutSignals(intake) };
  // Undefined if the activity failed or timed out: a create may have been sent.
  const result = await screenAtCheckout(request, run).catch(() => undefined);
  if (!facts.isReplaying) requireEveryMessage(lengthWithoutSignals(intake) - run.historyLength);
  const readable = whyUnread(result) === undefined ? result : undefined;
  const refusal = applyCheckout(order, readable);
  // A refusal would end an order that was adopted before. The task is retried until its transaction is read.
  if (readable === undefined && facts.wasReset && order.state.adopted !== undefined)
    throw new Error('After a reset the adopted transaction could not be read.');
  arriveNow(intake.inputs, order);
  intake.isClosed = false;
  if (refusal !== undefined) intake.refusal = refusal;
}

/** Returns the length of the history without the signals so far: they make it longer, without meaning that a task was lost. */
function lengthWithoutSignals({ inputs }: Intake): number {
  return workflowInfo().historyLength - inputs.filter(({ kind }) => kind === 'signal').length;
}

/** What the next attempt of a workflow task adds to the history: the end of the one before, and its own two events. */
const ATTEMPT_EVENTS = 3;

/**
 * Temporal's SDK can lose two messages if a worker that was frozen receives the attempts of the first task late, while the checkout runs. The
 * server writes no events for a task's second attempt, and gives their numbers to the messages that arrive during it. The SDK's core skips these
 * messages as already processed (`workflow_machines.rs`, `apply_next_wft_from_history`), but a replay does not. The loss of a single message
 * fails the next task anyway. A false alarm fails the task once: its next attempt starts with the whole history, or replays.
 *
 * @param grown how many events the history got during the checkout, without signals
 * @throws Error if two events are missing. The next attempt of the workflow task receives every message, and looks before it creates
 */
function requireEveryMessage(grown: number): void {
  if (grown % ATTEMPT_EVENTS === 2) throw new Error('Messages were lost. The workflow task is run again.');
}

/** Requests a read after the order's end if reads were pending when it ended. */
async function handOver(order: Order): Promise<void> {
  const { reads, state } = order;
  if (reads.length === 0 || state.transactions.length === 0) return;
  order.reads = [];
  await requestReadAfterEnd(state);
}

/** Starts the workflow that reads the status after an order's end, or signals it if it is running. */
async function requestReadAfterEnd(state: OrderState): Promise<void> {
  const workflowId = afterEndWorkflowId(state);
  try {
    await startChild(READ_AFTER_END, {
      workflowId,
      args: [readAfterEndInput(state)],
      memo: { [LATE_DECISIONS]: [] },
      parentClosePolicy: 'ABANDON',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    // It may have read the status before the hint arrived. If it ends before the signal arrives, a new one starts.
    const running = getExternalWorkflowHandle(workflowId);
    await running.signal(recheckSignal).catch(() => requestReadAfterEnd(state));
  }
}

function continueAsNew(input: OrderRun, order: Order): Promise<never> {
  const { wasReset } = runFacts(input.wasReset);
  // Temporal would pass on the memo that this run started with.
  const memo = memoOf(recordOf(order.state));
  // `resume` has the part of the transaction that the order still needs: passing it twice could exceed Temporal's 2 MB.
  const next = { ...input, transaction: {}, wasReset, resume: resumed(order) };
  return makeContinueAsNewFunc<typeof screenOrder>({ memo })(next);
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

// The check of a start, before the order's first command, since any tool can start the workflow.

/**
 * Longer than any order runs. A server may set its own timeout, such as the test server's ten years. A timeout set by a person is shorter,
 * and would end the order without a record.
 */
const MIN_TIMEOUT_MS = 2 * 365 * 24 * 3_600_000;

/**
 * Comes before every other check: a later version may accept what this one refuses.
 * @throws Error for an order of an unsupported version. It fails the workflow task until a worker that supports the version takes it
 */
function requireVersion(input: OrderRun): void {
  const { resume = input } = fieldsOf(input);
  const { version } = fieldsOf(resume);
  if (typeof version === 'number' && !isSupported(version))
    throw new Error(`This worker does not run version ${version}. Deploy a release that does.`);
}

/**
 * Returns why this run can't be an order, or undefined.
 * @throws Error for an existing order if the payload key is missing. It fails the workflow task until a worker with the key takes it; a
 *   refusal would end the order
 */
function refusedStart(input: OrderRun): Refusal | undefined {
  const { workflowId, continuedFromExecutionRunId, historyLength } = workflowInfo();
  const isContinued = continuedFromExecutionRunId !== undefined;
  const exists = isContinued || runFacts().wasReset || historyLength > FIRST_TASK_EVENTS;
  if (exists && lacksKey(input)) throw new Error(whyUnread(input));
  return startRefusal(input, workflowId, isContinued) ?? (isContinued ? undefined : timeoutRefusal());
}

function timeoutRefusal(): Refusal | undefined {
  const { runTimeoutMs, executionTimeoutMs } = workflowInfo();
  const fieldErrors = Object.entries({ runTimeout: runTimeoutMs, executionTimeout: executionTimeoutMs })
    .filter(([, ms]) => ms !== undefined && ms > 0 && ms < MIN_TIMEOUT_MS)
    .map(([path]) => ({ path, message: 'must not be set: it would end the order without a record' }));
  return fieldErrors.length > 0 ? invalid(fieldErrors) : undefined;
}
