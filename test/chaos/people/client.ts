/** An order service as it behaves in the field: it repeats a request until it is answered, and follows the answer. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import fetch from 'node-fetch';
import type { z } from 'zod';
import {
  checkoutAnswerSchema,
  gatewayResultAnswerSchema,
  portalAnswerSchema,
} from '../../../src/contract/answers.ts';
import type { GatewayResult } from '../../../src/contract/words.ts';
import { problemSchema } from '../../../src/server/api/problems.ts';
import type { BookedCall, BookedCheckoutAnswer } from '../../books/asked.ts';
import { aPreGatewayTransaction, aTransaction } from '../../fixtures/transactions.ts';
import type { Deployment } from '../deployment.ts';
import type { OrderPlan, PlannedAction } from '../plan/plan.ts';
import type { Arrival } from './receiver.ts';

/** What an order service did and received for one order. */
export interface Diary {
  /** Every request, also those without an answer. */
  calls: BookedCall[];
  /** Answers that no order service may get. */
  strange: string[];
  /** Requests that it stopped repeating. */
  givenUp: string[];
}

interface Ask<Answer> {
  path: string;
  body: object;
  schema: z.ZodType<Answer>;
  /** What the books have of one try. */
  booked: (when: Pick<BookedCall, 'sentAt' | 'at' | 'refusal'>, answer?: Answer) => BookedCall;
  isExpected: (refusal: string) => boolean;
  headers?: Record<string, string>;
}

/** How long an order service repeats a request after the last fault, and after the last answer to any order: a slow machine has a backlog. */
const PATIENCE_MS = 240_000;
const REQUEST_TIMEOUT_MS = 15_000;
const WAIT_FOR_PROCEED_MS = 25_000;
/** Its first attempt isn't declined any more, or the time for another is over. */
const NO_SECOND_ATTEMPT = ['retry-out-of-turn', 'order-closed'];

export class OrderService {
  readonly #deployment: Pick<Deployment, 'apiUrl' | 'receiver'>;
  readonly #signal: AbortSignal;
  readonly #diaries = new Map<string, Diary>();
  /** As behind a load balancer, all requests share these connections. */
  readonly #agent = new Agent({ maxSockets: 24 });
  /** When the last fault ended, or any order was answered after that. */
  #patientSince = Number.POSITIVE_INFINITY;

  constructor(deployment: Pick<Deployment, 'apiUrl' | 'receiver'>, signal: AbortSignal) {
    this.#deployment = deployment;
    this.#signal = signal;
  }

  faultsEnded(): void {
    this.#patientSince = Date.now();
  }

  diaryOf(orderId: string): Diary {
    const known = this.#diaries.get(orderId);
    if (known !== undefined) return known;
    const diary: Diary = { calls: [], strange: [], givenUp: [] };
    this.#diaries.set(orderId, diary);
    return diary;
  }

  /** Handles one order as planned. */
  async serve(plan: OrderPlan): Promise<void> {
    const sendings = plan.doubled ? [this.screen(plan, 1), this.screen(plan, 1)] : [this.screen(plan, 1)];
    const [answer] = await Promise.all(sendings);
    if (answer === undefined) return;
    await Promise.all([this.#follow(plan, answer), ...plan.actions.map((action) => this.#act(plan, action))]);
  }

  /** Sends the checkout of one attempt until it is answered. */
  screen(plan: OrderPlan, attempt: number): Promise<BookedCheckoutAnswer | undefined> {
    return this.#ask(plan, {
      path: 'screening',
      body: { attempt, transaction: transactionOf(plan, attempt) },
      schema: checkoutAnswerSchema,
      booked: (when, checkout) => ({ kind: 'decision', request: { attempt }, ...when, checkout }),
      isExpected: (refusal) => attempt > 1 && NO_SECOND_ATTEMPT.includes(refusal),
    });
  }

  async #follow(plan: OrderPlan, first: BookedCheckoutAnswer): Promise<void> {
    const hasGateway = plan.policy.workflow === 'pre-gateway';
    let { action } = first;
    if (hasGateway && first.decision !== 'skipped' && (await this.#proceeds(plan, first))) {
      const answered = await this.#pay(plan, 1, plan.gateway.results);
      if (answered === 'decline') action = answered;
    }
    if (action !== 'decline' || plan.attempts.length < 2) return;
    await this.#pause(plan.retryAfterMs);
    const second = await this.screen(plan, 2);
    if (hasGateway && second?.action === 'proceed') await this.#pay(plan, 2, ['pass']);
  }

  /** A held order may proceed by a later event. */
  async #proceeds({ orderId }: OrderPlan, { action, attempt }: BookedCheckoutAnswer): Promise<boolean> {
    if (action !== 'hold') return action === 'proceed';
    const isProceed = ({ event: { data } }: Arrival) => data.action === 'proceed' && data.attempt === attempt;
    return this.#deployment.receiver.waitFor(orderId, isProceed, WAIT_FOR_PROCEED_MS);
  }

  /** @returns the action that the last report was answered with */
  async #pay(
    plan: OrderPlan,
    attempt: number,
    results: readonly GatewayResult[],
  ): Promise<string | undefined> {
    let action: string | undefined;
    for (const result of results) {
      await this.#pause(plan.gateway.afterMs);
      const answer = await this.#ask(plan, {
        path: 'gateway-result',
        body: { attempt, result, authcode: `auth-${attempt}` },
        schema: gatewayResultAnswerSchema,
        booked: (when, gateway) => ({
          kind: 'gateway-result',
          request: { attempt, result },
          ...when,
          gateway,
        }),
        isExpected: (refusal) => refusal !== 'gateway-result-mismatch',
      });
      action = answer?.action;
    }
    return action;
  }

  async #act(plan: OrderPlan, { path, fields, afterMs }: PlannedAction): Promise<void> {
    await this.#pause(afterMs);
    const { kind, ...body } = fields;
    const customer = kind === 'customer-code' ? { email: `pass+${plan.orderId}@example.com` } : {};
    await this.#ask(plan, {
      path,
      body: { ...body, ...customer },
      headers: { 'idempotency-key': `${plan.orderId}-${path}` },
      schema: portalAnswerSchema,
      booked: (when, portal) => ({ kind: 'portal', request: { fields }, ...when, portal }),
      isExpected: () => true,
    });
  }

  /** Repeats a request until it is answered, and books each try. @returns the answer unless it is a refusal */
  async #ask<Answer>(plan: OrderPlan, ask: Ask<Answer>): Promise<Answer | undefined> {
    const { orderId, integration } = plan;
    const { path, schema, booked, isExpected } = ask;
    const { calls, strange, givenUp } = this.diaryOf(orderId);
    const began = Date.now();
    const isPatient = () => Date.now() < Math.max(began, this.#patientSince) + PATIENCE_MS;
    for (let pause = 200; isPatient() && !this.#signal.aborted; pause = Math.min(pause * 1.7, 4_000)) {
      const sentAt = Date.now();
      const reply = await this.#post(`/v1/orders/${orderId}/${path}?integration=${integration}`, ask);
      const when = { sentAt, at: Date.now() };
      if (reply === undefined || reply.status === 503) {
        calls.push(booked(when));
        await this.#pause(pause);
        continue;
      }
      this.#patientSince = Math.max(this.#patientSince, when.at);
      const { status } = reply;
      const parsed = status === 200 || status === 202 ? schema.safeParse(reply.body) : undefined;
      if (parsed?.success) {
        calls.push(booked(when, parsed.data));
        return parsed.data;
      }
      const refusal = slugOf(reply.body);
      calls.push(booked({ ...when, refusal }));
      if ((status >= 500 && status !== 502) || status < 300 || !isExpected(refusal))
        strange.push(`${path}: HTTP ${status} ${refusal}`);
      return undefined;
    }
    givenUp.push(path);
    return undefined;
  }

  async #post(
    path: string,
    { body, headers }: Pick<Ask<unknown>, 'body' | 'headers'>,
  ): Promise<{ status: number; body: unknown } | undefined> {
    try {
      const response = await fetch(`${this.#deployment.apiUrl}${path}`, {
        method: 'POST',
        agent: this.#agent,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.any([this.#signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return undefined;
    }
  }

  /** Ends early when the run is aborted. */
  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#signal }).catch(() => undefined);
  }
}

/** The sandbox decides by the e-mail's first word. */
function transactionOf({ orderId, policy, attempts }: OrderPlan, attempt: number): object {
  const { decision, amount } = attempts[attempt - 1] ?? { decision: 'pass', amount: 1 };
  const customer = { id: `customer-${orderId}`, email: `${decision}+${orderId}@example.com` };
  const order = { amount: amount.toFixed(2), customer };
  return policy.workflow === 'pre-gateway' ? aPreGatewayTransaction(order) : aTransaction(order);
}

function slugOf(body: unknown): string {
  const problem = problemSchema.safeParse(body);
  return problem.success ? problem.data.type.replace('/problems/', '') : 'without a problem';
}
