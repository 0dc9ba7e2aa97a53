/** What will be done with each order: a pure function of the seed and the order's index. */
import { orderWorkflowId } from '../../src/orders/ids.ts';
import { type IntegrationName, POLICIES, policyOf } from './policies.ts';
import { Dice } from './random.ts';

export type ServiceDecision = 'pass' | 'fail' | 'review' | 'fraudulent' | 'error';
export type GatewayResult = 'pass' | 'fail' | 'error';

/** Everything that is planned for one order; times in milliseconds. */
export interface OrderPlan {
  index: number;
  orderId: string;
  integration: IntegrationName;
  /** After the beginning of the run. */
  startsAfterMs: number;
  amount: number;
  /** What the service will decide at each attempt's create. */
  attempts: ServiceDecision[];
  retryAfterMs: number;
  /** The checkout is sent twice at the same time. */
  doubled: boolean;
  /** More than 100 hints come while its create is slow, which fails the workflow task. */
  stormy: boolean;
  gateway?: { result: GatewayResult; afterMs: number; replacedBy?: 'pass' | 'fail' };
  /** What analysts decide, one after the other, counted from the create. */
  analysts: { afterMs: number; decision: ServiceDecision }[];
  /** What analysts decide once the order was reported as fraud. */
  afterReport?: ServiceDecision;
  actions: PlannedAction[];
}

export interface PlannedAction {
  kind: 'cancel' | 'report-fraud' | 'chargebacks' | 'customer-code';
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
}

/** @returns the plan of the order with this index, from 0 */
export function planOrder(options: PlanOptions, index: number): OrderPlan {
  const { seed, orders, loadMs, cards } = options;
  const dice = new Dice(seed, index);
  const orderId = `S${seed}N${String(index).padStart(5, '0')}`;
  const integration = integrationOf(dice, cards);
  const policy = policyOf(integration);
  const first = dice.weighted<ServiceDecision>('decision', DECISIONS);
  const second = dice.weighted<ServiceDecision>('second', [
    ['pass', 6],
    ['review', 2],
    ['fail', 1],
    ['error', 1],
  ]);
  const retries = dice.chance('retry', 0.6);
  const gateway = policy.workflow === 'pre-gateway' ? gatewayOf(dice) : undefined;
  const reported = dice.chance('after-report', 0.6) ? ('fraudulent' as const) : undefined;
  return {
    index,
    orderId,
    integration,
    startsAfterMs: Math.floor(((index + dice.number('start')) / orders) * loadMs),
    amount: dice.chance('skipped', 0.03) ? 0.5 : dice.between('amount', 20, 200),
    attempts: retries ? [first, second] : [first],
    retryAfterMs: dice.between('retry-after', 300, 2_000),
    doubled: dice.chance('doubled', 0.08),
    stormy: dice.chance('stormy', 0.02),
    ...(gateway !== undefined && { gateway }),
    analysts: analystsOf(dice, first, policy.cancelWindowMs > 3_600_000),
    ...(reported !== undefined && { afterReport: reported }),
    actions: actionsOf(dice, orderId),
  };
}

/** @returns the plans of all orders of a run */
export function planRun(options: PlanOptions): OrderPlan[] {
  return Array.from({ length: options.orders }, (_, index) => planOrder(options, index));
}

/** @returns the order that an invoice number belongs to, and which create of it, from 1 */
export function orderOfInvoice(invoice: string): { orderId: string; create: number } | undefined {
  const [, orderId, create] = /^(S\d+N\d+)(?:-(\d+))?$/.exec(invoice) ?? [];
  return orderId === undefined ? undefined : { orderId, create: Number(create ?? 1) };
}

const DECISIONS: [ServiceDecision, number][] = [
  ['pass', 40],
  ['review', 30],
  ['fail', 13],
  ['fraudulent', 8],
  ['error', 9],
];

function integrationOf(dice: Dice, cards: boolean): IntegrationName {
  const names = Object.keys(POLICIES) as IntegrationName[];
  const usable = names.filter((name) => cards || policyOf(name).workflow !== 'pre-gateway');
  return dice.weighted(
    'integration',
    usable.map((name) => [name, policyOf(name).weight] as const),
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

function analystsOf(dice: Dice, first: ServiceDecision, long: boolean): OrderPlan['analysts'] {
  const later = dice.between('analyst-later', 4_000, 9_000);
  if (first === 'pass') {
    return dice.chance('pass-changes', 0.12)
      ? [{ afterMs: later, decision: dice.chance('pass-to', 0.7) ? 'fail' : 'review' }]
      : [];
  }
  if (first !== 'review' || dice.chance('never-decided', long ? 0.1 : 0.2)) return [];
  const decision = dice.weighted<ServiceDecision>('review-becomes', [
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
  const chances: [PlannedAction['kind'], number, number][] = [
    ['cancel', 0.08, 30_000],
    ['report-fraud', 0.06, 15_000],
    ['chargebacks', 0.07, 30_000],
    ['customer-code', 0.05, 10_000],
  ];
  return chances.flatMap(([kind, probability, latest]) =>
    dice.chance(kind, probability)
      ? [{ kind, afterMs: dice.between(`${kind}-after`, 0, latest), idempotencyKey: `${orderId}-${kind}` }]
      : [],
  );
}

export function workflowIdOf({ integration, orderId }: OrderPlan): string {
  return orderWorkflowId(integration, orderId);
}
