/** The life of an order. `run` reads as the design's section 3 does; what follows from what is in `src/orders/`. */
import { workflowInfo } from '@temporalio/workflow';
import { applyReading, type StatusOutcome } from '../orders/apply-reading.ts';
import { applyScreening } from '../orders/apply-screening.ts';
import { type Deadline, endsOrder, nextDeadline, spacingDeadline } from '../orders/deadlines.ts';
import { answerCheckout, applyFirstScreening } from '../orders/first-screening.ts';
import { applyGatewaySent } from '../orders/gateway.ts';
import { hintReadable, keepHint, keepRead, takeHint } from '../orders/hints.ts';
import { mustFinish, wantedJobs } from '../orders/jobs.ts';
import type { OrderEventType, ScreenOrderInput } from '../orders/messages.ts';
import { currentAttempt } from '../orders/new-order.ts';
import { keepRecheck, passDeadline, screenAgain } from '../orders/pass-deadline.ts';
import type { Policy } from '../orders/policy.ts';
import { autoCancelDue } from '../orders/portal.ts';
import type { ScreeningOutcome } from '../orders/screening-outcome.ts';
import { applyLookUp, noteLateScreening } from '../orders/transactions.ts';
import { type Instant, millis, type ReadingSource } from '../orders/words.ts';
import { Alarm } from './alarm.ts';
import { BackgroundJobs, type Finished, type FinishedRead } from './background-jobs.ts';
import { BROKE_DOWN, firstScreening } from './first-screening.ts';
import type { OrderContext } from './order-context.ts';
import { runJob, screenRequest } from './order-jobs.ts';
import type { PortalStrand } from './portal-strand.ts';
import { Rest } from './rest.ts';
import { wasReset } from './was-reset.ts';
import { local, retryCheckout } from './world.ts';

/** What the caller of the workflow asked for. */
type Asked = Pick<ScreenOrderInput, 'workflow' | 'answerBy'>;

export class OrderLife {
  readonly #jobs: BackgroundJobs;
  readonly #context: OrderContext;
  readonly #alarm = new Alarm((deadline) => this.#noteEnd(deadline));
  readonly #spacing = new Alarm();
  /** Whether portal actions and events rest. */
  readonly #othersRest: () => boolean;
  readonly #rest = new Rest();
  #quietEnd: Instant | undefined;
  /** The service did not answer a read: a job goes on trying, on behalf of whoever asked. */
  #readAgain: ReadingSource | undefined;
  /** When a decision was read last. */
  #readAt: Instant | undefined;
  #recheckAsked = false;

  /** @param othersRest whether portal actions and events rest */
  constructor(context: OrderContext, othersRest: () => boolean) {
    this.#context = context;
    this.#othersRest = othersRest;
    this.#jobs = new BackgroundJobs(
      (job) => runJob(context, job),
      () => context.touch(),
    );
  }

  /** Whether a create may be under way. */
  get screening(): boolean {
    return this.#attemptWaits() || this.#jobs.busy('catch-up');
  }

  /** Somebody says that there is news. */
  hint(): void {
    keepHint(this.#context.order, Date.now());
    this.#context.touch();
  }

  /** An operator asks to read the status now. */
  recheck(): void {
    this.#recheckAsked = true;
  }

  /**
   * When the order ended, if a timer ended it while nothing at all was under way. Whoever runs this workflow task again
   * finds the same end: messages are refused from that moment on, and no activity can bring news.
   */
  get quietEnd(): Instant | undefined {
    return this.#quietEnd;
  }

  /** Leaves the reads that were asked for and not made to the run that continues the order. */
  keepReads(): void {
    const { order, now } = this.#context;
    if (this.#recheckAsked) keepRecheck(order, now);
    if (this.#readAgain !== undefined) keepRead(order);
  }

  /** Whether it is the other strands' turn. */
  get rests(): boolean {
    return this.#rest.undisturbed;
  }

  /**
   * Lives the order to its end.
   * @returns false when its history has grown long: it is to continue as new
   */
  async run(portal: PortalStrand, asked: Asked): Promise<boolean> {
    const { order } = this.#context;
    if (order.policy === undefined) await this.#screenFirst(asked);
    while (!order.ended) {
      this.#startWhatIsDue(portal);
      this.#context.show();
      if (workflowInfo().continueAsNewSuggested && (await this.#rested(portal))) break;
      await this.#rest.until(() => this.#somethingToDo());
      await this.#doNext(portal);
    }
    if (order.ended) await this.#finish(portal);
    this.#rest.end();
    return order.ended === true;
  }

  /** The checkout's screening, inside the first workflow task. Design sections 3.1 and 6. */
  async #screenFirst(asked: Asked): Promise<void> {
    const { order } = this.#context;
    const { historyLength, unsafe } = workflowInfo();
    const sentSince = this.#context.now;
    const request = {
      ...screenRequest(this.#context, historyLength > 3 || unsafe.isReplaying),
      ...(asked.workflow !== undefined && { workflow: asked.workflow }),
      startedAt: order.startedAt,
      sentSince,
      wasReset: wasReset(),
      ...(asked.answerBy !== undefined && { answerBy: asked.answerBy }),
    };
    const first = await firstScreening(request);
    this.#context.emit(applyFirstScreening(order, first, { sentSince, now: this.#context.now }));
  }

  /** A declined customer's next attempt: a caller waits for this one too. */
  async #screenRetry(policy: Policy): Promise<void> {
    const sentSince = this.#context.now;
    this.#readAgain = undefined;
    let outcome: ScreeningOutcome;
    try {
      outcome = await retryCheckout.screenRetry(screenRequest(this.#context, wasReset()));
    } catch {
      outcome = BROKE_DOWN;
    }
    const { order, now } = this.#context;
    this.#context.emit(answerCheckout(order, policy, outcome, { sentSince, now }));
  }

  #startWhatIsDue(portal: PortalStrand): void {
    const { order } = this.#context;
    this.#context.looked();
    if (autoCancelDue(order, Date.now())) portal.queue({ kind: 'cancel' }, 'policy');
    this.#jobs.keep(wantedJobs(order, Date.now(), this.#readAgain));
    this.#alarm.set(nextDeadline(order));
    this.#spacing.set(spacingDeadline(order));
  }

  #somethingToDo(): boolean {
    return (
      this.#context.touched ||
      this.#jobs.anyFinished ||
      this.#alarm.rung ||
      this.#spacing.rung ||
      this.#recheckAsked ||
      hintReadable(this.#context.order) ||
      this.#attemptWaits()
    );
  }

  async #doNext(portal: PortalStrand): Promise<void> {
    const { order } = this.#context;
    // All that ended, then what a message means for jobs and timers, then the next read: in the replay, too.
    for (let finished = this.#jobs.take(); finished !== undefined; finished = this.#jobs.take()) {
      await this.#jobFinished(finished);
    }
    if (this.#attemptWaits() && order.policy !== undefined) return this.#screenRetry(order.policy);
    if (this.#context.touched) return;
    if (this.#recheckAsked) return this.#recheckNow();
    if (hintReadable(order)) {
      takeHint(order, Date.now());
      return this.#read('webhook');
    }
    const deadline = this.#spacing.take() ?? this.#alarm.take();
    if (deadline === undefined) return;
    const after = passDeadline(order, deadline.kind, this.#context.now);
    if (after.events.length > 0) this.#quietEnd = undefined;
    this.#context.emit(after.events);
    if (after.cancel) portal.queue({ kind: 'cancel' }, 'policy');
    if (after.read) await this.#read('recheck');
  }

  async #recheckNow(): Promise<void> {
    this.#recheckAsked = false;
    if (!screenAgain(this.#context.order, this.#context.now)) await this.#read('operator');
  }

  /** Reads the decision now, by transaction id; when the service doesn't answer, a job goes on trying. */
  async #read(source: ReadingSource): Promise<void> {
    const { order } = this.#context;
    const { transactionId, number: attempt } = currentAttempt(order);
    if (transactionId === undefined || order.phase === 'screening' || order.phase === 'canceled') return;
    this.#quietEnd = undefined;
    try {
      const outcome = await local.readStatus({ integration: order.integration, transactionId, attempt });
      if (outcome.kind === 'unanswered' || outcome.kind === 'forbidden') this.#readAgain = source;
      // What can't be read leaves it to the job that is at it, if there is one.
      if (outcome.kind === 'read') this.#readAgain = undefined;
      this.#apply(outcome, transactionId, source);
    } catch {
      this.#readAgain = source;
    }
  }

  /** What a job read before another read was made may be older than that: it only says that there is news. */
  async #applyFresh({ outcome, transactionId, since }: FinishedRead, source: ReadingSource): Promise<void> {
    const overtaken = this.#readAt !== undefined && millis(this.#readAt) > millis(since);
    const own = transactionId === currentAttempt(this.#context.order).transactionId;
    if (outcome.kind === 'read' && overtaken && own) await this.#read(source);
    else this.#apply(outcome, transactionId, source);
  }

  /** A reading of an earlier attempt's transaction comes too late to say anything about the order. */
  #apply(outcome: StatusOutcome, transactionId: string, source: ReadingSource): void {
    const { order, now } = this.#context;
    if (transactionId !== currentAttempt(order).transactionId) return;
    if (outcome.kind === 'read') this.#readAt = now;
    this.#context.emit(applyReading(order, outcome, source, now));
  }

  async #jobFinished(finished: Finished): Promise<void> {
    const { order, now } = this.#context;
    switch (finished.kind) {
      case 'catch-up':
        this.#context.emit(this.#caughtUp(finished));
        return;
      case 'read':
        if (finished.outcome.kind !== 'forbidden') this.#readAgain = undefined;
        return this.#applyFresh(finished, finished.source);
      case 'poll':
        return this.#applyFresh(finished, 'poll');
      case 'gateway':
        this.#context.emit(applyGatewaySent(order, finished.attempt, finished.result, finished.outcome, now));
        return;
      case 'look-up':
        this.#context.emit(applyLookUp(order, finished.attempt, finished.outcome, now));
        return;
      case 'forget-card':
        finished.attempt.cardForgotten = true;
        return;
    }
  }

  #caughtUp({
    attempt,
    outcome,
    since,
    rescreen,
  }: Extract<Finished, { kind: 'catch-up' }>): OrderEventType[] {
    const { order, now } = this.#context;
    if (order.policy === undefined) return [];
    if (attempt !== currentAttempt(order)) {
      noteLateScreening(order, attempt, outcome, since, now);
      return [];
    }
    const source = rescreen ? 'rescreen' : 'catch-up';
    return applyScreening(order, order.policy, outcome, { source, sentSince: since, now });
  }

  #noteEnd({ kind, at }: Deadline): void {
    const quiet = this.#rest.waits && this.#jobs.idle && this.#othersRest();
    this.#quietEnd = quiet && endsOrder(kind) ? at : undefined;
  }

  #attemptWaits(): boolean {
    return currentAttempt(this.#context.order).answer === undefined;
  }

  /** The order ended: what must be done still is. */
  async #finish(portal: PortalStrand): Promise<void> {
    const { order } = this.#context;
    for (;;) {
      this.#jobs.keep(wantedJobs(order, Date.now()).filter(mustFinish));
      const finished = this.#jobs.take();
      if (finished !== undefined) await this.#jobFinished(finished);
      else if (this.#jobs.idle && portal.idle) break;
      else {
        this.#quietEnd = undefined;
        await this.#rest.until(() => this.#jobs.anyFinished || (this.#jobs.idle && portal.idle));
      }
    }
    this.#stopTimers();
  }

  #stopTimers(): void {
    this.#alarm.set(undefined);
    this.#spacing.set(undefined);
  }

  /** @returns whether nothing is under way that could not be begun again: then the order may continue as new */
  async #rested(portal: PortalStrand): Promise<boolean> {
    if (!portal.idle || this.#attemptWaits()) return false;
    await this.#jobs.stop();
    this.#stopTimers();
    return !this.#jobs.anyFinished && portal.idle && !this.#attemptWaits();
  }
}
