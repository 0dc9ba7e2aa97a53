/** The life of an order. `run` reads as the design's section 3 does; what follows from what is in `src/orders/`. */
import { ApplicationFailure, condition, workflowInfo } from '@temporalio/workflow';
import { applyReading } from '../orders/apply-reading.ts';
import { applyScreening, checkoutAnswer } from '../orders/apply-screening.ts';
import { clear, raise, raiseWrongKey } from '../orders/attention.ts';
import { nextDeadline } from '../orders/deadlines.ts';
import { isOrderErrorCode } from '../orders/errors.ts';
import { takeHint } from '../orders/hints.ts';
import { mustFinish, wantedJobs } from '../orders/jobs.ts';
import type { OrderEventType, ScreenOrderInput } from '../orders/messages.ts';
import { currentAttempt } from '../orders/new-order.ts';
import { beginRescreen, passDeadline } from '../orders/pass-deadline.ts';
import { settle } from '../orders/phase.ts';
import type { Policy } from '../orders/policy.ts';
import { autoCancelDue } from '../orders/portal.ts';
import type { FirstScreening, ScreeningOutcome } from '../orders/screening-outcome.ts';
import { type Instant, instant, millis, type ReadingSource } from '../orders/words.ts';
import { Alarm } from './alarm.ts';
import { BackgroundJobs, type Finished } from './background-jobs.ts';
import type { OrderContext } from './order-context.ts';
import { runJob, screenRequest } from './order-jobs.ts';
import type { PortalStrand } from './portal-strand.ts';
import { local, retryCheckout } from './world.ts';

export class OrderLife {
  readonly jobs: BackgroundJobs;
  readonly #context: OrderContext;
  readonly #alarm = new Alarm();
  #screeningNow = false;
  #readAgain = false;
  #recheckAsked = false;

  constructor(context: OrderContext) {
    this.#context = context;
    this.jobs = new BackgroundJobs(
      (job) => runJob(context, job),
      () => context.touch(),
    );
  }

  /** Whether a create may be under way. */
  get screening(): boolean {
    return this.#screeningNow || this.jobs.busy('catch-up');
  }

  /** An operator asks to read the status now. */
  recheck(): void {
    this.#recheckAsked = true;
  }

  /**
   * Lives the order to its end.
   * @returns false when its history has grown long: it is to continue as new
   */
  async run(portal: PortalStrand, asked: Pick<ScreenOrderInput, 'workflow' | 'answerBy'>): Promise<boolean> {
    const { order } = this.#context;
    if (order.policy === undefined) await this.#screenFirst(asked);
    while (!order.ended) {
      this.#startWhatIsDue(portal);
      this.#context.show();
      if (workflowInfo().continueAsNewSuggested && (await this.#rested(portal))) return false;
      await condition(() => this.#somethingToDo());
      await this.#doNext(portal);
    }
    await this.#finish(portal);
    return true;
  }

  /** The checkout's screening, inside the first workflow task. Design sections 3.1 and 6. */
  async #screenFirst(asked: Pick<ScreenOrderInput, 'workflow' | 'answerBy'>): Promise<void> {
    const { order } = this.#context;
    const { startTime, historyLength, unsafe } = workflowInfo();
    const sentSince = this.#context.now;
    const request = {
      ...screenRequest(this.#context, historyLength > 3 || unsafe.isReplaying),
      ...(asked.workflow !== undefined && { workflow: asked.workflow }),
      queuedMs: Date.now() - startTime.getTime(),
      ...(asked.answerBy !== undefined && { answerBy: asked.answerBy }),
    };
    this.#screeningNow = true;
    const first = await this.#firstScreening(request);
    this.#screeningNow = false;
    order.policy = first.policy;
    order.workflow = first.policy.workflow;
    const attempt = currentAttempt(order);
    attempt.screenUntil = instant(millis(order.startedAt) + first.policy.screeningDeadlineMs);
    const adopted = first.outcome.kind === 'answered' && first.outcome.adopted;
    this.#answerCheckout(first.policy, first.outcome, adopted ? order.startedAt : sentSince);
  }

  async #firstScreening(request: Parameters<typeof local.screenAtCheckout>[0]): Promise<FirstScreening> {
    try {
      return await local.screenAtCheckout(request);
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      if (cause instanceof ApplicationFailure && isOrderErrorCode(cause.type)) throw cause;
      const policy = await local.policyInForce(request);
      return { policy, outcome: { kind: 'unanswered', reason: 'screening-broke-down', maybeSent: true } };
    }
  }

  /** A declined customer's next attempt: a caller waits for this one too. */
  async #screenRetry(policy: Policy): Promise<void> {
    const sentSince = this.#context.now;
    this.#screeningNow = true;
    let outcome: ScreeningOutcome;
    try {
      outcome = await retryCheckout.screenRetry(screenRequest(this.#context, false));
    } catch {
      outcome = { kind: 'unanswered', reason: 'screening-broke-down', maybeSent: true };
    }
    this.#screeningNow = false;
    this.#answerCheckout(policy, outcome, sentSince);
  }

  #answerCheckout(policy: Policy, outcome: ScreeningOutcome, sentSince: Instant): void {
    const { order, now } = this.#context;
    const events = applyScreening(order, policy, outcome, { source: 'checkout', sentSince, now });
    const insights = outcome.kind === 'answered' ? outcome.insights : undefined;
    currentAttempt(order).answer = checkoutAnswer(order, insights === undefined ? {} : { insights });
    this.#context.emit(events);
  }

  #startWhatIsDue(portal: PortalStrand): void {
    const { order } = this.#context;
    this.#context.looked();
    if (autoCancelDue(order, Date.now())) portal.queue({ kind: 'cancel' }, 'policy');
    this.jobs.keep(wantedJobs(order, Date.now(), this.#readAgain));
    this.#alarm.set(nextDeadline(order));
  }

  #somethingToDo(): boolean {
    return (
      this.#context.touched ||
      this.jobs.finished.length > 0 ||
      this.#alarm.rung ||
      this.#recheckAsked ||
      this.#hintReadable() ||
      this.#attemptWaits()
    );
  }

  async #doNext(portal: PortalStrand): Promise<void> {
    const { order } = this.#context;
    const finished = this.jobs.finished.shift();
    if (finished !== undefined) return this.#jobFinished(finished);
    if (this.#attemptWaits() && order.policy !== undefined) return this.#screenRetry(order.policy);
    if (this.#recheckAsked) return this.#recheckNow();
    if (this.#hintReadable()) {
      takeHint(order, Date.now());
      return this.#read('webhook');
    }
    const deadline = this.#alarm.take();
    if (deadline === undefined) return;
    const after = passDeadline(order, deadline.kind, this.#context.now);
    this.#context.emit(after.events);
    if (after.cancel) portal.queue({ kind: 'cancel' }, 'policy');
    if (after.read) await this.#read(deadline.kind === 'recheck' ? 'recheck' : 'webhook');
  }

  async #recheckNow(): Promise<void> {
    const { order } = this.#context;
    this.#recheckAsked = false;
    if (order.phase === 'decided' && order.decision === 'error') {
      const until = Date.now() + (order.policy?.screeningDeadlineMs ?? 0);
      beginRescreen(order);
      currentAttempt(order).screenUntil = instant(until);
      order.passed = [];
      settle(order, this.#context.now);
      return;
    }
    await this.#read('operator');
  }

  /** Reads the decision now, by transaction id; when the service doesn't answer, a job goes on trying. */
  async #read(source: ReadingSource): Promise<void> {
    const { order } = this.#context;
    const { transactionId } = currentAttempt(order);
    if (transactionId === undefined || order.phase === 'screening' || order.phase === 'canceled') return;
    try {
      const outcome = await local.readStatus({ integration: order.integration, transactionId });
      this.#readAgain = outcome.kind === 'unanswered' || outcome.kind === 'forbidden';
      this.#context.emit(applyReading(order, outcome, source, this.#context.now));
    } catch {
      this.#readAgain = true;
    }
  }

  #jobFinished(finished: Finished): void {
    const { order, now } = this.#context;
    const { policy } = order;
    const attempt = 'attempt' in finished ? order.attempts[finished.attempt - 1] : undefined;
    switch (finished.kind) {
      case 'catch-up': {
        if (policy === undefined) return;
        const source = finished.job.kind === 'catch-up' && finished.job.rescreen ? 'rescreen' : 'catch-up';
        const moment = { source, sentSince: finished.since, now } as const;
        this.#context.emit(applyScreening(order, policy, finished.outcome, moment));
        return;
      }
      case 'read':
        this.#readAgain = finished.outcome.kind === 'forbidden';
        this.#context.emit(applyReading(order, finished.outcome, 'webhook', now));
        return;
      case 'poll':
        this.#context.emit(applyReading(order, finished.outcome, 'poll', now));
        return;
      case 'gateway':
        this.#context.emit(this.#gatewaySent(finished));
        return;
      case 'look-up':
        if (finished.outcome.kind === 'forbidden') return;
        if (attempt !== undefined) attempt.lookedUp = true;
        if (finished.outcome.kind === 'found' && attempt !== undefined) {
          attempt.transactionId = finished.outcome.transactionId;
          attempt.transactionIds.push(finished.outcome.transactionId);
          attempt.readings.push({ decision: finished.outcome.decision, at: now, source: 'look-up' });
        }
        return;
      case 'forget-card':
        if (attempt !== undefined) attempt.cardForgotten = true;
        return;
    }
  }

  #gatewaySent(finished: Extract<Finished, { kind: 'gateway' }>): OrderEventType[] {
    const { order, now } = this.#context;
    const sent = order.attempts[finished.attempt - 1]?.gateway;
    if (finished.outcome.kind === 'forbidden') return raiseWrongKey(order, now) ? ['order.attention'] : [];
    clear(order, 'wrong-key');
    if (sent !== undefined) sent.sent = finished.outcome.kind === 'sent' ? now : 'recorded';
    if (finished.outcome.kind === 'sent') return [];
    const said = `${GATEWAY_REFUSED} ${finished.outcome.words}`;
    return raise(order, 'gateway-refused', said, now) ? ['order.attention'] : [];
  }

  #hintReadable(): boolean {
    const { order } = this.#context;
    return order.hints.unread && order.phase !== 'screening';
  }

  #attemptWaits(): boolean {
    return currentAttempt(this.#context.order).answer === undefined;
  }

  /** The order ended: what must be done still is, then the strands close. */
  async #finish(portal: PortalStrand): Promise<void> {
    const { order } = this.#context;
    for (;;) {
      this.jobs.keep(wantedJobs(order, Date.now(), false).filter(mustFinish));
      const finished = this.jobs.finished.shift();
      if (finished !== undefined) this.#jobFinished(finished);
      else if (this.jobs.idle && portal.idle) break;
      else await condition(() => this.jobs.finished.length > 0 || (this.jobs.idle && portal.idle));
    }
    this.#alarm.set(undefined);
    portal.close();
  }

  /** @returns whether nothing is under way that could not be begun again: then the order may continue as new */
  async #rested(portal: PortalStrand): Promise<boolean> {
    if (!portal.idle || this.#attemptWaits()) return false;
    await this.jobs.stop();
    this.#alarm.set(undefined);
    return this.jobs.finished.length === 0 && portal.idle && !this.#attemptWaits();
  }
}

const GATEWAY_REFUSED = 'The service refused the payment gateway’s result:';
