/** An order service as it behaves in the field: it asks again until it is answered, and believes what it is told. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { problemSchema } from '../../src/api/problems.ts';
import {
  checkoutAnswerSchema,
  gatewayResultAnswerSchema,
  portalAnswerSchema,
} from '../../src/contract/answers.ts';

import type { PortalFields } from '../../src/contract/messages.ts';
import type { GatewayResult } from '../../src/contract/words.ts';
import type { BookedCall, BookedCheckoutAnswer } from '../books/books.ts';
import { aPreGatewayTransaction, aTransaction } from '../fixtures/transactions.ts';
import type { OrderPlan, PlannedAction } from './plan.ts';
import type { Receiver } from './receiver.ts';

/** What one order service did and was told about one order. */
export interface Diary {
  /** Every request, also those that were not answered. */
  calls: BookedCall[];
  /** Answers that no order service should ever get. */
  strange: string[];
  /** Requests that were given up unanswered. */
  givenUp: string[];
}

export interface Traffic {
  requests: number;
  unavailable: number;
  broken: number;
}

type When = Pick<BookedCall, 'sentAt' | 'at' | 'refusal'>;

interface Reply {
  status: number;
  body: unknown;
  sentAt: number;
  at: number;
}

/** Refusals of a checkout that an order service must expect. */
const EXPECTED: Record<number, string[]> = {
  1: [],
  // Its first attempt isn't declined any more, or the time for another is over.
  2: ['retry-out-of-turn', 'order-closed'],
};

/** How long an order service repeats a request after the last fault, and after the last answer to any order: a slow machine works off its backlog. */
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
  /** When any order was answered last. */
  #answeredAt = 0;
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
    const diary: Diary = { calls: [], strange: [], givenUp: [] };
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
  async screen(plan: OrderPlan, attempt: number): Promise<BookedCheckoutAnswer | undefined> {
    const { calls, strange } = this.diaryOf(plan.orderId);
    const body = { attempt, transaction: transactionOf(plan, attempt) };
    const call = (when: When): BookedCall => ({ asks: 'checkout', attempt, ...when });
    const reply = await this.#until(plan, 'screening', body, call);
    if (reply === undefined) return undefined;
    const { sentAt, at } = reply;
    const answer = read(reply, checkoutAnswerSchema);
    if (typeof answer === 'object') {
      calls.push({ asks: 'checkout', attempt, sentAt, at, answer });
      return answer;
    }
    calls.push(call({ sentAt, at, refusal: answer }));
    if (!EXPECTED[attempt]?.includes(answer)) strange.push(`attempt ${attempt}: ${answer}`);
    return undefined;
  }

  async #goOn(plan: OrderPlan, first: BookedCheckoutAnswer): Promise<void> {
    let answer: BookedCheckoutAnswer | undefined = first;
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

  #toldToProceed({ orderId }: OrderPlan, { attempt }: BookedCheckoutAnswer): Promise<boolean> {
    return this.#receiver.waitFor(
      orderId,
      ({ event: { data } }) => data.action === 'proceed' && data.attempt === attempt,
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
    const { calls, strange } = this.diaryOf(plan.orderId);
    const body = { attempt, result, authcode: `auth-${attempt}` };
    const call = (when: When, taken = false): BookedCall => ({
      asks: 'gateway-result',
      attempt,
      result,
      taken,
      ...when,
    });
    const reply = await this.#until(plan, 'gateway-result', body, call);
    if (reply === undefined) return undefined;
    const { sentAt, at } = reply;
    const answer = read(reply, gatewayResultAnswerSchema);
    if (typeof answer === 'object') {
      calls.push(call({ sentAt, at }, answer.result === result));
      return answer.action;
    }
    calls.push(call({ sentAt, at, refusal: answer }));
    if (answer === 'gateway-result-mismatch') strange.push(`gateway result ${result}: ${answer}`);
    return undefined;
  }

  async #act(plan: OrderPlan, { path, fields, afterMs, idempotencyKey }: PlannedAction): Promise<void> {
    await this.#pause(afterMs);
    const call = (when: When): BookedCall => ({ asks: 'portal', fields, ...when });
    const headers = { 'idempotency-key': idempotencyKey };
    const reply = await this.#until(plan, path, bodyOf(fields, plan), call, headers);
    if (reply === undefined) return;
    const { sentAt, at } = reply;
    const answer = read(reply, portalAnswerSchema);
    const told =
      typeof answer === 'string'
        ? { refusal: answer }
        : {
            status: answer.status,
            ...(answer.transactionId !== undefined && { transactionId: answer.transactionId }),
          };
    this.diaryOf(plan.orderId).calls.push({ asks: 'portal', fields, sentAt, at, ...told });
  }

  /** Repeats a request until it is answered by something else than «try again», or no order is answered any more. */
  async #until(
    plan: OrderPlan,
    path: string,
    body: object,
    call: (when: When) => BookedCall,
    headers = {},
  ): Promise<Reply | undefined> {
    const { orderId, integration } = plan;
    const diary = this.diaryOf(orderId);
    const began = Date.now();
    const patient = (): boolean =>
      Date.now() < Math.max(began, this.#calmSince, this.#answeredAt) + PATIENCE_MS;
    for (let pause = 200; patient() && !this.#signal.aborted; pause = Math.min(pause * 1.7, 4_000)) {
      const sentAt = Date.now();
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
        this.#answeredAt = Date.now();
        return { ...reply, sentAt, at: this.#answeredAt };
      }
      diary.calls.push(call({ sentAt, at: Date.now() }));
      await this.#pause(pause);
    }
    diary.givenUp.push(path);
    return undefined;
  }

  async #post(
    path: string,
    body: object,
    headers: Record<string, string>,
  ): Promise<Pick<Reply, 'status' | 'body'> | undefined> {
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
function transactionOf({ index, orderId, policy, attempts }: OrderPlan, attempt: number): object {
  const { decision, amount } = attempts[attempt - 1] ?? { decision: 'pass', amount: 1 };
  const customer = { id: `customer-${index}`, email: `${decision}+${orderId}@example.com` };
  const order = { amount: amount.toFixed(2), customer };
  return policy.workflow === 'pre-gateway' ? aPreGatewayTransaction(order) : aTransaction(order);
}

function bodyOf({ kind, ...fields }: PortalFields, { orderId }: OrderPlan): object {
  return kind === 'customer-code' ? { ...fields, email: `pass+${orderId}@example.com` } : fields;
}

/** @returns the answer, or the slug of the refusal */
function read<T>(reply: Reply, schema: z.ZodType<T>): T | string {
  const parsed = reply.status === 200 || reply.status === 202 ? schema.safeParse(reply.body) : undefined;
  return parsed?.success ? parsed.data : slugOf(reply);
}

function slugOf({ status, body }: Pick<Reply, 'status' | 'body'>): string {
  const problem = problemSchema.safeParse(body);
  return problem.success ? problem.data.type.replace('/problems/', '') : `HTTP ${status} without a problem`;
}
