/** An order service as it behaves in the field: it asks again until it is answered, and believes what it is told. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { aPreGatewayTransaction, aTransaction } from '../fixtures/transactions.ts';
import type { GatewayResult, OrderPlan, PlannedAction } from './plan.ts';
import { policyOf } from './policies.ts';
import type { Receiver } from './receiver.ts';

const answerSchema = z.object({
  orderId: z.string(),
  attempt: z.number(),
  decision: z.string(),
  action: z.string(),
  phase: z.string(),
  transactionId: z.string().optional(),
  cancelBy: z.string().optional(),
  wouldBe: z.string().optional(),
  reason: z.string().optional(),
});
/** An answer to a checkout. */
export type Answer = z.infer<typeof answerSchema> & { at: number };

const portalAnswerSchema = z.object({
  status: z.enum(['done', 'requested']),
  transactionId: z.string().optional(),
});
const problemSchema = z.object({ type: z.string(), status: z.number() });

/** What became of one portal action, as the order service was told. */
export interface ActionResult {
  kind: PlannedAction['kind'];
  /** `done` or `requested`, else the slug of the refusal. */
  outcome: string;
  sentAt: number;
  at: number;
}

/** What one order service did and was told about one order. */
export interface Diary {
  /** Every answer to every sending of an attempt's checkout. */
  answers: Answer[];
  /** Slugs of definite refusals of a checkout, with the attempt. */
  refusals: { attempt: number; slug: string }[];
  gateway: { attempt: number; result: GatewayResult; outcome: string }[];
  actions: ActionResult[];
  /** Answers that no order service should ever get. */
  strange: string[];
  /** Requests that were given up unanswered. */
  givenUp: string[];
  /** Attempts whose answers nobody heard, as the order was told. */
  unheard?: number[];
}

export interface Traffic {
  requests: number;
  unavailable: number;
  broken: number;
}

interface Reply {
  status: number;
  body: unknown;
}

/** How long an order service asks on after the last fault. Before, it asks for as long as it takes. */
const PATIENCE_MS = 240_000;
/** Connections to the API, of all order services together: on a slow machine they wait in line, as behind a load balancer. */
const AT_ONCE = 24;
const REQUEST_TIMEOUT_MS = 15_000;
const WAIT_FOR_PROCEED_MS = 25_000;

export class OrderService {
  readonly diaries = new Map<string, Diary>();
  readonly traffic: Traffic = { requests: 0, unavailable: 0, broken: 0 };
  readonly #apiUrl: string;
  readonly #receiver: Receiver;
  readonly #signal: AbortSignal;
  #calmSince = Number.POSITIVE_INFINITY;
  #free = AT_ONCE;
  readonly #line: (() => void)[] = [];

  constructor(apiUrl: string, receiver: Receiver, signal: AbortSignal) {
    this.#apiUrl = apiUrl;
    this.#receiver = receiver;
    this.#signal = signal;
  }

  /** Nothing is broken from now on: whoever isn't answered soon won't be. */
  faultsEnded(): void {
    this.#calmSince = Date.now();
  }

  diaryOf(orderId: string): Diary {
    const known = this.diaries.get(orderId);
    if (known !== undefined) return known;
    const diary: Diary = { answers: [], refusals: [], gateway: [], actions: [], strange: [], givenUp: [] };
    this.diaries.set(orderId, diary);
    return diary;
  }

  /** Lives through one order as planned. */
  async serve(plan: OrderPlan): Promise<void> {
    const sendings = plan.doubled ? [this.screen(plan, 1), this.screen(plan, 1)] : [this.screen(plan, 1)];
    const [answer] = await Promise.all(sendings);
    if (answer === undefined) return;
    await Promise.all([this.#goOn(plan, answer), ...plan.actions.map((action) => this.#act(plan, action))]);
  }

  /** Sends the checkout of one attempt until it is answered. */
  async screen(plan: OrderPlan, attempt: number): Promise<Answer | undefined> {
    const diary = this.diaryOf(plan.orderId);
    const reply = await this.#until(plan, 'screening', {
      attempt,
      transaction: transactionOf(plan, attempt),
    });
    if (reply === undefined) return undefined;
    const parsed = answerSchema.safeParse(reply.body);
    if ((reply.status === 200 || reply.status === 202) && parsed.success) {
      const answer = { ...parsed.data, at: Date.now() };
      diary.answers.push(answer);
      return answer;
    }
    const slug = slugOf(reply);
    diary.refusals.push({ attempt, slug });
    return undefined;
  }

  async #goOn(plan: OrderPlan, first: Answer): Promise<void> {
    let answer: Answer | undefined = first;
    if (plan.gateway !== undefined && first.decision !== 'skipped') {
      const proceeds =
        first.action === 'proceed' || (first.action === 'hold' && (await this.#toldToProceed(plan, first)));
      if (proceeds && (await this.#payAtGateway(plan, 1)) === 'decline')
        answer = { ...first, action: 'decline' };
    }
    if (answer.action !== 'decline' || plan.attempts.length < 2) return;
    await this.#pause(plan.retryAfterMs);
    answer = await this.screen(plan, 2);
    if (answer?.action === 'proceed' && plan.gateway !== undefined) await this.#payAtGateway(plan, 2);
  }

  #toldToProceed({ orderId }: OrderPlan, { attempt }: Answer): Promise<boolean> {
    return this.#receiver.waitFor(
      orderId,
      ({ data }) => data.action === 'proceed' && data.attempt === attempt,
      WAIT_FOR_PROCEED_MS,
    );
  }

  /** @returns the action that the last report was answered with */
  async #payAtGateway(plan: OrderPlan, attempt: number): Promise<string | undefined> {
    if (plan.gateway === undefined) return undefined;
    const { result, afterMs, replacedBy } = plan.gateway;
    await this.#pause(afterMs);
    const action = await this.#reportGateway(plan, attempt, attempt === 1 ? result : 'pass');
    if (attempt > 1 || replacedBy === undefined) return action;
    await this.#pause(afterMs);
    return this.#reportGateway(plan, attempt, replacedBy);
  }

  async #reportGateway(plan: OrderPlan, attempt: number, result: GatewayResult): Promise<string | undefined> {
    const body = { attempt, result, authcode: `auth-${attempt}` };
    const reply = await this.#until(plan, 'gateway-result', body);
    if (reply === undefined) return undefined;
    const answered = z.object({ action: z.string() }).safeParse(reply.body);
    const taken = reply.status === 200 && answered.success;
    this.diaryOf(plan.orderId).gateway.push({ attempt, result, outcome: taken ? 'taken' : slugOf(reply) });
    return answered.success ? answered.data.action : undefined;
  }

  async #act(plan: OrderPlan, { kind, afterMs, idempotencyKey }: PlannedAction): Promise<void> {
    await this.#pause(afterMs);
    const sentAt = Date.now();
    const reply = await this.#until(plan, kind, bodyOf(kind, plan), { 'idempotency-key': idempotencyKey });
    if (reply === undefined) return;
    const parsed = portalAnswerSchema.safeParse(reply.body);
    const fine = (reply.status === 200 || reply.status === 202) && parsed.success;
    const outcome = fine ? parsed.data.status : slugOf(reply);
    this.diaryOf(plan.orderId).actions.push({ kind, outcome, sentAt, at: Date.now() });
  }

  /** The same request again and again until there is an answer that isn't «try again». */
  async #until(plan: OrderPlan, path: string, body: object, headers = {}): Promise<Reply | undefined> {
    const { orderId, integration } = plan;
    const diary = this.diaryOf(orderId);
    const began = Date.now();
    const patient = (): boolean => Date.now() < Math.max(began, this.#calmSince) + PATIENCE_MS;
    for (let pause = 200; patient() && !this.#signal.aborted; pause = Math.min(pause * 1.7, 4_000)) {
      const reply = await this.#post(
        `/v1/orders/${orderId}/${path}?integration=${integration}`,
        body,
        headers,
      );
      if (reply === undefined) this.traffic.broken += 1;
      else if (reply.status === 503) this.traffic.unavailable += 1;
      else {
        if (reply.status >= 500 && reply.status !== 502)
          diary.strange.push(`${path}: HTTP ${reply.status} ${slugOf(reply)}`);
        return reply;
      }
      await this.#pause(pause);
    }
    diary.givenUp.push(path);
    return undefined;
  }

  async #post(path: string, body: object, headers: Record<string, string>): Promise<Reply | undefined> {
    await this.#connection();
    this.traffic.requests += 1;
    try {
      const response = await fetch(`${this.#apiUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.any([this.#signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return undefined;
    } finally {
      this.#free += 1;
      this.#line.shift()?.();
    }
  }

  /** Waits until a connection is free, and takes it. */
  async #connection(): Promise<void> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#line.push(resolve));
    this.#free -= 1;
  }

  /** Ends early, without an error, when the run is aborted. */
  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#signal }).catch(() => undefined);
  }
}

/** The sandbox decides by the e-mail's first word. */
function transactionOf(plan: OrderPlan, attempt: number): object {
  const decision = plan.attempts[attempt - 1] ?? 'pass';
  const pre = policyOf(plan.integration).workflow === 'pre-gateway';
  const customer = { id: `customer-${plan.index}`, email: `${decision}+${plan.orderId}@example.com` };
  const amount = plan.amount.toFixed(2);
  return pre ? aPreGatewayTransaction({ amount, customer }) : aTransaction({ amount, customer });
}

function bodyOf(kind: PlannedAction['kind'], plan: OrderPlan): object {
  switch (kind) {
    case 'cancel':
    case 'report-fraud':
      return { reason: 'a chaos run' };
    case 'customer-code':
      return { customerCode: `code-${plan.orderId}`, email: `pass+${plan.orderId}@example.com` };
    case 'chargebacks':
      return { reason_code: '10.4', due_date: '2034-01-31', reference_number: plan.orderId };
  }
}

function slugOf(reply: Reply): string {
  const problem = problemSchema.safeParse(reply.body);
  return problem.success
    ? problem.data.type.replace('/problems/', '')
    : `HTTP ${reply.status} without a problem`;
}
