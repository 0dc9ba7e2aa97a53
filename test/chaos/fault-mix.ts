/** Every fault that the sandbox can play, with a probability. */
import { FAULT_KINDS, type FaultKind, type FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import type { OrderPlan } from './plan.ts';

type PlannedFault = FaultPlanInput['faults'][number];

const SCREENING = ['create-transaction', 'status', 'status-by-url', 'status-by-invoice'] as const;
const PORTAL = ['customer-code', 'report-fraud', 'cancel-transaction', 'submit-chargeback'] as const;

const WEBHOOKS: Partial<Record<FaultKind, number>> = {
  lost: 0.12,
  doubled: 0.12,
  late: 0.06,
  reordered: 0.06,
  forged: 0.1,
};
const ONLY_DECISIONS: FaultKind[] = ['unknown-decision', 'reply-without-id'];
const ONLY_PORTAL: FaultKind[] = ['refused-in-body'];

/** How long a request takes that is delayed. */
export const SLOW_MS = 1_000;

/** `down`: the service refuses nearly every create, so that the circuit breakers open. `slow`: it takes its time for each. */
export type Condition = 'usual' | 'down' | 'slow';

const CONDITIONS: Record<Condition, PlannedFault[]> = {
  usual: [],
  down: [{ operation: 'create-transaction', kind: '5xx-before-commit', probability: 0.97 }],
  slow: [{ operation: 'create-transaction', kind: 'delay', delayMs: SLOW_MS }],
};

/**
 * @returns a plan with every kind of fault, and a slow create for each stormy order
 */
export function faultMix(seed: number, plans: readonly OrderPlan[], condition: Condition): FaultPlanInput {
  const requestKinds = FAULT_KINDS.filter((kind) => !(kind in WEBHOOKS));
  const plain = requestKinds.filter((kind) => !ONLY_DECISIONS.includes(kind) && !ONLY_PORTAL.includes(kind));
  const faults: PlannedFault[] = [
    ...CONDITIONS[condition],
    ...plans
      .filter((plan) => plan.stormy)
      .map(
        (plan): PlannedFault => ({
          operation: 'create-transaction',
          kind: 'delay',
          delayMs: SLOW_MS,
          times: 1,
          match: { invoice: plan.orderId },
        }),
      ),
    ...SCREENING.flatMap((operation) =>
      [...plain, ...ONLY_DECISIONS].map((kind) => faultOf(operation, kind, 0.014)),
    ),
    ...plain.map((kind) => faultOf('gateway-response', kind, 0.02)),
    ...PORTAL.flatMap((operation) =>
      [...plain, ...ONLY_PORTAL].map((kind) => faultOf(operation, kind, 0.02)),
    ),
    ...Object.entries(WEBHOOKS).map(
      ([kind, probability]): PlannedFault => ({
        operation: 'webhook',
        kind: kind as FaultKind,
        probability,
        ...(kind === 'late' && { delayMs: 3_000 }),
      }),
    ),
  ];
  return { seed, faults };
}

function faultOf(operation: PlannedFault['operation'], kind: FaultKind, probability: number): PlannedFault {
  return { operation, kind, probability, ...(kind === 'delay' && { delayMs: SLOW_MS }) };
}
