/** What will be done with each order: a pure function of the seed and the order's index. */
import { orderWorkflowId } from '../../src/contract/ids.ts';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { Decision, GatewayResult } from '../../src/contract/words.ts';
import { type ChaosIntegration, isLong, policyOf } from './policies.ts';
import { Dice } from './random.ts';

/** What the order service sends for one attempt, and what the screening service decides about it. */
export interface PlannedAttempt {
  decision: Decision;
  /** Each attempt has another amount, so that a create tells its attempt. */
  amount: number;
  /** A skip rule matches it. */
  skip: boolean;
}

/** Everything that is planned for one order; times in milliseconds. */
export interface OrderPlan {
  index: number;
  orderId: string;
  integration: string;
  policy: Policy;
  checkoutBudgetMs: number;
  /** It stays open until the end of the run. */
  long: boolean;
  /** After the beginning of the run. */
  startsAfterMs: number;
  attempts: PlannedAttempt[];
  retryAfterMs: number;
  /** The checkout is sent twice at the same time. */
  doubled: boolean;
  /** More than 100 hints come while its create is slow, which fails the workflow task. */
  stormy: boolean;
  gateway?: { result: GatewayResult; afterMs: number; replacedBy?: 'pass' | 'fail' };
  /** What analysts decide, one after the other, counted from the create. */
  analysts: { afterMs: number; decision: Decision }[];
  /** What analysts decide once the order was reported as fraud. */
  afterReport?: Decision;
  actions: PlannedAction[];
}

export interface PlannedAction {
  /** The last part of its address. */
  path: 'cancel' | 'report-fraud' | 'chargebacks' | 'customer-code';
  fields: PortalFields;
  /** After the checkout's answer. */
  afterMs: number;
  idempotencyKey: string;
}

export interface PlanOptions {
  seed: number;
  orders: number;
  /** How long new orders come. */
  loadMs: number;
  /** Whether full card data can reach the workers. */
  cards: boolean;
  integrations: ReadonlyMap<string, ChaosIntegration>;
}

/** @returns the plan of the order with this index, from 0 */
export function planOrder(options: PlanOptions, index: number): OrderPlan {
  const { seed, orders, loadMs } = options;
  const dice = new Dice(seed, index);
  const orderId = `S${seed}N${String(index).padStart(5, '0')}`;
  const integration = integrationOf(dice, options);
  const attempts = attemptsOf(dice, integration);
  const [first] = attempts;
  const policy = policyOf(integration, first.amount);
  const gateway = policy.workflow === 'pre-gateway' ? gatewayOf(dice) : undefined;
  const reported = dice.chance('after-report', 0.6) ? ('fraudulent' as const) : undefined;
  return {
    index,
    orderId,
    integration: integration.name,
    policy,
    checkoutBudgetMs: integration.settings.checkoutBudgetMs,
    long: isLong(integration),
    startsAfterMs: Math.floor(((index + dice.number('start')) / orders) * loadMs),
    attempts,
    retryAfterMs: dice.between('retry-after', 300, 2_000),
    doubled: dice.chance('doubled', 0.08),
    stormy: dice.chance('stormy', 0.02),
    ...(gateway !== undefined && { gateway }),
    analysts: analystsOf(dice, first.decision, isLong(integration)),
    ...(reported !== undefined && { afterReport: reported }),
    actions: actionsOf(dice, orderId),
  };
}

/** A skip rule may match the first attempt, or only the second. */
function attemptsOf(dice: Dice, { skipBelow }: ChaosIntegration): [PlannedAttempt, ...PlannedAttempt[]] {
  const attempt = (decision: Decision, amount: number): PlannedAttempt => ({
    decision,
    amount,
    skip: amount < skipBelow,
  });
  const amount = dice.chance('skipped', 0.03) ? 0.5 : dice.between('amount', 20, 200);
  const first = attempt(dice.weighted('decision', DECISIONS), amount);
  if (!dice.chance('retry', 0.6)) return [first];
  const second = dice.weighted<Decision>('second', [
    ['pass', 6],
    ['review', 2],
    ['fail', 1],
    ['error', 1],
  ]);
  return [first, attempt(second, dice.chance('second skipped', 0.15) ? 0.75 : amount + 0.25)];
}

/** @returns the plans of all orders of a run */
export function planRun(options: PlanOptions): OrderPlan[] {
  return Array.from({ length: options.orders }, (_, index) => planOrder(options, index));
}

/** Returns the id of the order that an invoice number belongs to. */
export function orderOfInvoice(invoice: string): string | undefined {
  return /^(S\d+N\d+)(?:~\d+(?:\.\d+)?)?$/.exec(invoice)?.[1];
}

const DECISIONS: [Decision, number][] = [
  ['pass', 40],
  ['review', 30],
  ['fail', 13],
  ['fraudulent', 8],
  ['error', 9],
];

function integrationOf(dice: Dice, { integrations, cards }: PlanOptions): ChaosIntegration {
  const usable = [...integrations.values()].filter(
    ({ settings }) => cards || settings.workflow !== 'pre-gateway',
  );
  return dice.weighted(
    'integration',
    usable.map((one) => [one, one.weight] as const),
  );
}

function gatewayOf(dice: Dice): NonNullable<OrderPlan['gateway']> {
  const result = dice.weighted<GatewayResult>('gateway', [
    ['pass', 7],
    ['fail', 2],
    ['error', 2],
  ]);
  const afterMs = dice.between('gateway-after', 100, 3_000);
  if (result !== 'error' || !dice.chance('gateway-replaced', 0.7)) return { result, afterMs };
  return { result, afterMs, replacedBy: dice.chance('gateway-second', 0.7) ? 'pass' : 'fail' };
}

function analystsOf(dice: Dice, first: Decision, long: boolean): OrderPlan['analysts'] {
  const later = dice.between('analyst-later', 4_000, 9_000);
  if (first === 'pass') {
    return dice.chance('pass-changes', 0.12)
      ? [{ afterMs: later, decision: dice.chance('pass-to', 0.7) ? 'fail' : 'review' }]
      : [];
  }
  if (first !== 'review' || dice.chance('never-decided', long ? 0.1 : 0.2)) return [];
  const decision = dice.weighted<Decision>('review-becomes', [
    ['pass', 6],
    ['fail', 3],
    ['fraudulent', 1],
  ]);
  const at = dice.between('review-after', 500, 9_000);
  const script = [{ afterMs: at, decision }];
  if (dice.chance('second-thoughts', 0.15)) {
    script.push({ afterMs: at + later, decision: decision === 'pass' ? 'fail' : 'pass' });
  }
  return script;
}

function actionsOf(dice: Dice, orderId: string): PlannedAction[] {
  const reason = 'a chaos run';
  const chances: [PlannedAction['path'], PortalFields, number, number][] = [
    ['cancel', { kind: 'cancel', reason }, 0.08, 30_000],
    ['report-fraud', { kind: 'report-fraud', reason }, 0.06, 15_000],
    [
      'chargebacks',
      { kind: 'chargeback', reason_code: '10.4', due_date: '2034-01-31', reference_number: orderId },
      0.07,
      30_000,
    ],
    ['customer-code', { kind: 'customer-code', customerCode: customerCodeOf(orderId) }, 0.05, 10_000],
  ];
  return chances.flatMap(([path, fields, probability, latest]) =>
    dice.chance(path, probability)
      ? [
          {
            path,
            fields,
            afterMs: dice.between(`${path}-after`, 0, latest),
            idempotencyKey: `${orderId}-${path}`,
          },
        ]
      : [],
  );
}

/** @returns the code that the order attaches to its customer, which names the order */
export function customerCodeOf(orderId: string): string {
  return `code-${orderId}`;
}

export function workflowIdOf({ integration, orderId }: OrderPlan): string {
  return orderWorkflowId(integration, orderId);
}
