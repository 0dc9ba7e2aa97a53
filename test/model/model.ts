/**
 * What the design says an order must be, from what happened to it: a pure fold over the log. Where the design says
 * nothing, or leaves a choice, the model falls silent (`silence`) and the comparison with it. It knows none of the code.
 */
import type { Policy } from '../../src/orders/policy.ts';
import type { Action, GatewayResult, OrderDecision, Phase } from '../../src/orders/words.ts';

/** A person must look: each cause by the design's words for it. */
export type Cause =
  | 'wrong key'
  | 'no decision'
  | 'status trouble'
  | 'gateway late'
  | 'gateway error'
  | 'review unresolved'
  | 'review limit'
  | 'cancel due'
  | 'cancel refused'
  | 'cancel too late'
  | 'failed after the window'
  | 'portal trouble';

export interface ModelAttempt {
  number: number;
  startedAt: number;
  /** The earliest try that may have reached the service. */
  firstTry?: number;
  txs: string[];
  decision: OrderDecision;
  answer?: { decision: OrderDecision; action: Action; phase?: Phase };
  gateway?: GatewayResult;
  errors: number;
  /** The last create may have been made without our knowing. */
  maybeMade?: boolean;
  /** A create is tried and has no definite answer yet. */
  trying?: boolean;
}

export interface Model {
  policy: Policy;
  phase: Phase;
  decision: OrderDecision;
  action: Action;
  attempts: ModelAttempt[];
  /** Since when the order is in its phase. */
  since: number;
  events: string[];
  causes: Set<Cause>;
  /** A reading or a person may have ended these: they may be there or not. */
  perhaps: Set<Cause>;
  /** Causes that a person has seen: whether one that lasts is raised again isn't said. */
  seen: Set<Cause>;
  cancelAsked: boolean;
  /** Since when the decision is polled because fraud was reported. */
  fraudReported?: number | undefined;
  rechecks: number;
  /** A hint that must have been followed by a reading, since when. */
  hinted?: number;
  lastRead?: number;
  /** Deadlines that were dealt with. */
  done: Set<string>;
  mood: 'ok' | 'down' | 'wrong-key';
  /** 0 while it never turned. */
  moodSince: number;
  /** What must never have happened, in words. */
  faults: string[];
  silence: Partial<Record<'phase' | 'action' | 'decision' | 'events' | 'attention', string>>;
}

export function newModel(policy: Policy, at: number): Model {
  return {
    policy,
    phase: 'screening',
    decision: 'pending',
    action: 'hold',
    attempts: [newAttempt(1, at)],
    since: at,
    events: [],
    causes: new Set(),
    perhaps: new Set(),
    seen: new Set(),
    cancelAsked: false,
    rechecks: 0,
    done: new Set(),
    mood: 'ok',
    moodSince: 0,
    faults: [],
    silence: {},
  };
}

/** What begins before a moment may still arrive this much after it. */
export const SOON_MS = 3_000;

export function newAttempt(number: number, startedAt: number): ModelAttempt {
  return { number, startedAt, txs: [], decision: 'pending', errors: 0 };
}

export function current(model: Model): ModelAttempt {
  const attempt = model.attempts.at(-1);
  if (attempt === undefined) throw new Error('an order has an attempt');
  return attempt;
}

/** Section 2, cancel window: "from the earliest moment a transaction's create may have been sent until `cancelBy`". */
export function cancelByOf(model: Model, attempt = current(model)): number | undefined {
  return attempt.firstTry === undefined ? undefined : attempt.firstTry + model.policy.cancelWindowMs;
}

/** Section 2: "nothing is sent in its last 30 s (or last 1%, if that is less)". */
export function lastStretchMs(policy: Policy): number {
  return Math.min(30_000, policy.cancelWindowMs / 100);
}

export function tooLateToCancel(model: Model, at: number, attempt = current(model)): boolean {
  const cancelBy = cancelByOf(model, attempt);
  return cancelBy !== undefined && at > cancelBy - lastStretchMs(model.policy);
}

export function fallSilent(model: Model, why: string, ...about: (keyof Model['silence'])[]): void {
  const all = ['phase', 'action', 'decision', 'events', 'attention'] as const;
  for (const one of about.length > 0 ? about : all) model.silence[one] ??= why;
}

export function move(model: Model, phase: Phase, at: number, action?: Action): void {
  if (model.phase !== phase) model.since = at;
  model.phase = phase;
  if (action) model.action = model.policy.passive ? 'proceed' : action;
}

export function closed(model: Model): void {
  model.phase = 'closed';
  model.events.push('order.closed');
}

/** "`order.decided` is sent for every attempt." */
export function decidedEvent(model: Model): void {
  const name = `decided ${current(model).number}`;
  if (model.done.has(name)) return;
  model.done.add(name);
  model.events.push('order.decided');
}

/** "403 is a wrong key: attention at once", unless it was seen and lasts. */
export function raiseWrongKey(model: Model): void {
  (model.seen.has('wrong key') ? model.perhaps : model.causes).add('wrong key');
}

export function clearTrouble(model: Model): void {
  model.seen.delete('wrong key');
  if (model.causes.delete('wrong key')) model.perhaps.add('wrong key');
}
