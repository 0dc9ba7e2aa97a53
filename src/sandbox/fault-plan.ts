/** The fault injection plan: chooses the fault for each request. */
import { z } from 'zod';
import { FAULTY_OPERATIONS, type Operation, PORTAL_OPERATIONS, type Subject } from './model.ts';
import { bareInvoiceNumber } from './state.ts';

const REQUEST_FAULTS = [
  'delay',
  '5xx-before-commit',
  '5xx-after-commit',
  '429',
  '403',
  'malformed-body',
  'truncated-reply',
  'reset-before-commit',
  'reset-after-commit',
  'hang-before-commit',
  'hang-after-commit',
] as const;
const DECISION_FAULTS = ['unknown-decision', 'reply-without-id'] as const;
const PORTAL_FAULT = 'refused-in-body';
const WEBHOOK_FAULTS = ['lost', 'doubled', 'late', 'reordered', 'forged'] as const;

export const FAULT_KINDS = [...REQUEST_FAULTS, ...DECISION_FAULTS, PORTAL_FAULT, ...WEBHOOK_FAULTS] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

function kindsFor(operation: Operation): readonly FaultKind[] {
  if (operation === 'webhook') return WEBHOOK_FAULTS;
  if (operation === 'gateway-response') return REQUEST_FAULTS;
  const isPortal = PORTAL_OPERATIONS.some((one) => one === operation);
  return isPortal ? [...REQUEST_FAULTS, PORTAL_FAULT] : [...REQUEST_FAULTS, ...DECISION_FAULTS];
}

const faultSchema = z
  .strictObject({
    operation: z.enum(FAULTY_OPERATIONS),
    kind: z.enum(FAULT_KINDS),
    /** Probability for each request, 1 by default. */
    probability: z.number().min(0).max(1).optional(),
    /** How many times the fault is injected; unlimited by default. */
    times: z.number().int().positive().optional(),
    /** Delay in milliseconds before the commit (for a webhook: before it is sent). Allowed with any kind. */
    delayMs: z.number().int().nonnegative().optional(),
    /** HTTP status of a 5xx; for `refused-in-body`, the code in the body. */
    status: z.number().int().min(400).max(599).optional(),
    /** Seconds, for `429`. */
    retryAfter: z.number().int().nonnegative().optional(),
    match: z.strictObject({ invoice: z.string().transform(bareInvoiceNumber).optional() }).optional(),
  })
  .superRefine(({ operation, kind, delayMs, status }, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (!kindsFor(operation).includes(kind)) refuse('kind', `${kind} is not available for ${operation}`);
    if ((kind === 'delay' || kind === 'late') && delayMs === undefined)
      refuse('delayMs', `is required for ${kind}`);
    if (kind.startsWith('5xx') && status !== undefined && status < 500)
      refuse('status', 'must be 500 to 599');
  });
export type Fault = z.output<typeof faultSchema>;

/** A plan replaces the previous one. The same seed and orders get the same faults. */
export const faultPlanSchema = z.strictObject({
  seed: z.number().int().default(1),
  faults: z.array(faultSchema),
});
export type FaultPlanInput = z.input<typeof faultPlanSchema>;

/**
 * Hashes the text to a number from 0 to 1. With a random number generator the faults would depend on the order of arrival,
 * so concurrent runs could not be repeated.
 */
function draw(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Chooses the fault for each request: the first in the plan that matches, has uses left and is selected by its probability. */
export class FaultPlan {
  private seed = 1;
  private faults: { fault: Fault; left: number }[] = [];
  private requests = new Map<string, number>();
  private played: { operation: Operation; kind: FaultKind; count: number }[] = [];

  set(input: FaultPlanInput): void {
    const { seed, faults } = faultPlanSchema.parse(input);
    this.seed = seed;
    this.faults = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }));
    this.requests.clear();
  }

  clear(): void {
    this.set({ faults: [] });
  }

  reset(): void {
    this.clear();
    this.played = [];
  }

  /** Returns the fault to inject into this request, and counts it. */
  pick(operation: Operation, { transactionId, invoiceNumber }: Subject): Fault | undefined {
    if (this.faults.length === 0) return undefined;
    const about = `${operation}|${invoiceNumber ?? transactionId ?? ''}`;
    const nth = (this.requests.get(about) ?? 0) + 1;
    this.requests.set(about, nth);
    for (const [index, planned] of this.faults.entries()) {
      const { fault } = planned;
      if (fault.operation !== operation || planned.left === 0) continue;
      if (fault.match?.invoice !== undefined && fault.match.invoice !== invoiceNumber) continue;
      if (draw(`${this.seed}|${index}|${about}|${nth}`) >= (fault.probability ?? 1)) continue;
      planned.left -= 1;
      this.count(operation, fault.kind);
      return fault;
    }
    return undefined;
  }

  /** Returns the current plan, and how often each kind was injected since the last reset. */
  report() {
    return {
      seed: this.seed,
      faults: this.faults.map(({ fault }) => fault),
      played: structuredClone(this.played),
    };
  }

  private count(operation: Operation, kind: FaultKind): void {
    const counted = this.played.find((one) => one.operation === operation && one.kind === kind);
    if (counted) counted.count += 1;
    else this.played.push({ operation, kind, count: 1 });
  }
}
