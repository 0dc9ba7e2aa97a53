/** Every fault that the sandbox can inject, with a probability. */
import { FAULT_KINDS, type FaultKind, type FaultPlanInput } from '../../../src/sandbox/fault-plan.ts';
import type { OrderPlan } from '../plan/plan.ts';

type Fault = FaultPlanInput['faults'][number];

const SCREENING = ['create-transaction', 'status', 'status-by-url', 'status-by-invoice'] as const;
const PORTAL = ['customer-code', 'report-fraud', 'cancel-transaction', 'submit-chargeback'] as const;
const WEBHOOK = { lost: 0.12, doubled: 0.12, late: 0.06, reordered: 0.06, forged: 0.1 };
const ONLY_SCREENING: readonly FaultKind[] = ['unknown-decision', 'reply-without-id'];
const ONLY_PORTAL: readonly FaultKind[] = ['refused-in-body'];
const EVERYWHERE = FAULT_KINDS.filter(
  (kind) => !(kind in WEBHOOK) && !ONLY_SCREENING.includes(kind) && !ONLY_PORTAL.includes(kind),
);

/** How long a delayed request takes. */
export const SLOW_MS = 1_000;
const SLOW_CREATE = { operation: 'create-transaction', kind: 'delay', delayMs: SLOW_MS } as const;

/** `down`: the service refuses nearly every create, so that the circuit breakers open. `slow`: it delays each. */
export type Condition = 'usual' | 'down' | 'slow';

const CONDITIONS: Record<Condition, Fault[]> = {
  usual: [],
  down: [{ operation: 'create-transaction', kind: '5xx-before-commit', probability: 0.97 }],
  slow: [SLOW_CREATE],
};

/** @returns a plan with every kind of fault, and a slow create for each stormy order */
export function faultMix(seed: number, plans: readonly OrderPlan[], condition: Condition): FaultPlanInput {
  const each = (operation: Fault['operation'], kinds: readonly FaultKind[], probability: number): Fault[] =>
    kinds.map((kind) => ({ operation, kind, probability, ...(kind === 'delay' && { delayMs: SLOW_MS }) }));
  const stormy = plans.filter((plan) => plan.stormy);
  const faults: Fault[] = [
    ...CONDITIONS[condition],
    ...stormy.map(({ orderId }) => ({ ...SLOW_CREATE, times: 1, match: { invoice: orderId } })),
    ...SCREENING.flatMap((operation) => each(operation, [...EVERYWHERE, ...ONLY_SCREENING], 0.014)),
    ...each('gateway-response', EVERYWHERE, 0.02),
    ...PORTAL.flatMap((operation) => each(operation, [...EVERYWHERE, ...ONLY_PORTAL], 0.02)),
    ...Object.entries(WEBHOOK).map(
      ([kind, probability]): Fault => ({
        operation: 'webhook',
        kind: kind as FaultKind,
        probability,
        ...(kind === 'late' && { delayMs: 3_000 }),
      }),
    ),
  ];
  return { seed, faults };
}
