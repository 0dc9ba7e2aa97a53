/** What is planned for each order: a pure function of the seed and the order's index. */
import { orderWorkflowId } from '../../../src/contract/ids.ts';
import type { PortalFields } from '../../../src/contract/messages.ts';
import type { Decision, GatewayResult } from '../../../src/contract/words.ts';
import { policyFor } from '../../../src/order/order-rules.ts';
import { Dice, mixed } from '../../simulation/random.ts';
import { type ChaosIntegration, SKIP_BELOW } from './policies.ts';

const LONG_WINDOW_MS = 3_600_000;

/** What the order service sends for one attempt, and what the screening service decides about it. */
interface PlannedAttempt {
  decision: Decision;
  /** Different for each attempt of an order, so that a create shows which attempt it is for. */
  amount: number;
  /** A skip rule matches it. */
  skip: boolean;
}

export interface PlannedAction {
  /** The last part of its address. */
  path: 'cancel' | 'report-fraud' | 'chargebacks' | 'customer-code';
  fields: PortalFields;
  /** After the checkout's answer. */
  afterMs: number;
}

/** Everything planned for one order; times in milliseconds. */
export type OrderPlan = ReturnType<typeof planOrder>;

interface PlanOptions {
  seed: number;
  orders: number;
  /** How long new orders arrive. */
  loadMs: number;
  integrations: readonly ChaosIntegration[];
}

/** @returns the plans of all orders of a run */
export function planRun(options: PlanOptions): OrderPlan[] {
  return Array.from({ length: options.orders }, (_, index) => planOrder(options, index));
}

function planOrder({ seed, orders, loadMs, integrations }: PlanOptions, index: number) {
  const dice = new Dice(mixed(seed, index));
  const integration = integrations[dice.between(0, integrations.length - 1)];
  if (integration === undefined) throw new RangeError('a run needs an integration');
  const orderId = `S${seed}N${String(index).padStart(5, '0')}`;
  const attempts = attemptsOf(dice, integration);
  const [{ amount, decision }] = attempts;
  const facts = { amount, currency: 'USD', itemCategories: [] };
  return {
    orderId,
    integration: integration.name,
    policy: policyFor(integration.settings, undefined, facts, true),
    checkoutBudgetMs: integration.settings.checkoutBudgetMs,
    /** Its cancel window outlasts the run. */
    long: integration.settings.cancelWindowMs > LONG_WINDOW_MS,
    /** After the start of the run. */
    startsAfterMs: Math.floor(((index + dice.number()) / orders) * loadMs),
    attempts,
    retryAfterMs: dice.between(300, 2_000),
    /** The checkout is sent twice at the same time. */
    doubled: dice.chance(0.08),
    /** More than 100 hints arrive during its slow create, which fails the workflow task. */
    stormy: dice.chance(0.02),
    /** What the payment gateway reports after a `proceed`, and then in its place. */
    gateway: { results: gatewayResultsOf(dice), afterMs: dice.between(100, 3_000) },
    /** What analysts decide, counted from the create. */
    analysts: analystsOf(dice, decision),
    /** Analysts decide `fraudulent` after a fraud report. */
    confirmsFraud: dice.chance(0.6),
    actions: actionsOf(dice, orderId),
  };
}

/** A skip rule may match the first attempt, or only the second. */
function attemptsOf(dice: Dice, { name }: ChaosIntegration): [PlannedAttempt, ...PlannedAttempt[]] {
  const attempt = (decision: Decision, amount: number): PlannedAttempt => {
    return { decision, amount, skip: name !== 'default' && amount < SKIP_BELOW };
  };
  const amount = dice.chance(0.03) ? 0.5 : dice.between(20, 200);
  const decision = weighted(dice, { pass: 40, review: 30, fail: 13, fraudulent: 8, error: 9 });
  const first = attempt(decision, amount);
  if (!dice.chance(0.6)) return [first];
  const second = weighted(dice, { pass: 6, review: 2, fail: 1, error: 1 });
  return [first, attempt(second, dice.chance(0.15) ? 0.75 : amount + 0.25)];
}

function gatewayResultsOf(dice: Dice): GatewayResult[] {
  const result = weighted(dice, { pass: 7, fail: 2, error: 2 });
  if (result !== 'error' || dice.chance(0.3)) return [result];
  return ['error', weighted(dice, { pass: 7, fail: 3 })];
}

function analystsOf(dice: Dice, first: Decision): { afterMs: number; decision: Decision }[] {
  const soon = dice.between(500, 9_000);
  const later = soon + dice.between(4_000, 9_000);
  if (first === 'pass' && dice.chance(0.12)) {
    return [{ afterMs: later, decision: weighted(dice, { fail: 7, review: 3 }) }];
  }
  if (first !== 'review' || dice.chance(0.15)) return [];
  const decision = weighted(dice, { pass: 6, fail: 3, fraudulent: 1 });
  const changed = { afterMs: later, decision: decision === 'pass' ? 'fail' : 'pass' } as const;
  return [{ afterMs: soon, decision }, ...(dice.chance(0.15) ? [changed] : [])];
}

function actionsOf(dice: Dice, orderId: string): PlannedAction[] {
  const reason = 'a chaos run';
  const chargeback = { reason_code: '10.4', due_date: '2034-01-31', reference_number: orderId };
  const possible: [number, number, PlannedAction['path'], PortalFields][] = [
    [0.08, 30_000, 'cancel', { kind: 'cancel', reason }],
    [0.06, 15_000, 'report-fraud', { kind: 'report-fraud', reason }],
    [0.07, 30_000, 'chargebacks', { kind: 'chargeback', ...chargeback }],
    [0.05, 10_000, 'customer-code', { kind: 'customer-code', customerCode: customerCodeOf(orderId) }],
  ];
  return possible.flatMap(([probability, latestMs, path, fields]) =>
    dice.chance(probability) ? [{ path, fields, afterMs: dice.between(0, latestMs) }] : [],
  );
}

/** @returns one of the words, each as often as its weight says */
export function weighted<Word extends string>(dice: Dice, weights: Record<Word, number>): Word {
  const words = Object.entries<number>(weights).flatMap(([word, weight]) => Array(weight).fill(word));
  return words[dice.between(0, words.length - 1)];
}

/** @returns the code that the order attaches to its customer, which names the order */
export function customerCodeOf(orderId: string): string {
  return `code-${orderId}`;
}

/** @returns the id of the order that an invoice number belongs to */
export function orderOfInvoice(invoice: string): string | undefined {
  return /^(S\d+N\d+)(?:~\d+(?:\.\d+)?)?$/.exec(invoice)?.[1];
}

export function workflowIdOf({ integration, orderId }: OrderPlan): string {
  return orderWorkflowId(integration, orderId);
}
