/** The queue: which orders a person has to act on, why, and in which lists and bands each one is. */
import { createHash } from 'node:crypto';
import type { ActionRecord, FailedTries, OrderState, Reading } from '../../../contract/order/state.ts';
import type { Insight, Insights } from '../../../contract/terms.ts';
import { type Instant, instant, millis, type Phase } from '../../../contract/words.ts';
import { isUnderWay } from '../../../order/portal/portal-requests.ts';
import type { OrderSummary, QueuedOrder } from '../../../starter.ts';
import type { Filters, Tab } from '../addresses.ts';
import { duration, HOUR_MS } from '../words.ts';

/** A portal action that isn't done after this time is stuck, also if nobody knows of a failed try. */
const STUCK_AFTER_MS = 60_000;

/** Why an order is in the queue. `flag`: its kind, if it isn't a review. */
export interface Why {
  flag?: 'Attention' | 'Stuck' | 'Held';
  words: string;
}

/** The sections of the table, in their sequence. */
export const BANDS = ['overdue', 'now', 'soon', 'later', 'none'] as const;
export type Band = (typeof BANDS)[number];

/** An order as lists show it. */
export interface Entry {
  summary: OrderSummary;
  why: Why;
  tabs: readonly Tab[];
  band: Band;
  since: Instant;
  /** Changes when what a list shows of the order changes, except for times. */
  mark: string;
}

/** @returns the entry of an order; undefined if there is nothing to do for a person */
export function queueEntry(order: QueuedOrder, nowMs: number): Entry | undefined {
  const { summary, state } = order;
  const closed = summary.closedAt !== undefined;
  const attention = summary.needsAttention || summary.problem !== undefined;
  const stuck = state !== undefined && !closed && stuckAction(state, nowMs) !== undefined;
  const held = state !== undefined && !closed && isHeld(state);
  // A terminated order stays while it can still be adopted or canceled.
  const isOver = closed && (summary.cancelBy === undefined || millis(summary.cancelBy) < nowMs);
  const review = summary.phase === 'review' && !isOver && !isDecidedByPerson(state);
  const snoozed = state?.snoozedUntil !== undefined;
  if (!attention && !stuck && !held && !review && !snoozed) return undefined;
  const entry = entryOf(order, nowMs);
  if (snoozed) return { ...entry, tabs: ['snoozed'] };
  const kinds = { attention, stuck, held, overdue: entry.band === 'overdue', soon: entry.band === 'now' };
  const tabs: Tab[] = ['all', ...(['overdue', 'soon', 'attention', 'stuck', 'held'] as const)];
  return { ...entry, tabs: tabs.filter((tab) => tab === 'all' || kinds[tab as keyof typeof kinds]) };
}

/** @returns the entry of any order, for lists that aren't the queue */
export function entryOf(order: QueuedOrder, nowMs: number): Entry {
  const { summary } = order;
  const { orderId, integration, assignee, decision, action, phase, cancelBy, closedAt } = summary;
  const why = whyOf(order, nowMs);
  // Words of a running action have durations in them, which change with every page.
  const fixed = why.flag === undefined || why.flag === 'Attention' ? why.words : why.flag;
  const shown = [
    integration,
    orderId,
    assignee,
    decision,
    action,
    phase,
    cancelBy,
    closedAt,
    why.flag,
    fixed,
  ];
  return {
    summary,
    why,
    tabs: [],
    band: bandOf(summary, nowMs),
    since: cameAt(order),
    mark: createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 5),
  };
}

/** @returns when the order came: for an adopted order, when it was screened */
export function cameAt({ summary, state }: QueuedOrder): Instant {
  return state?.adopted?.screenedAt ?? state?.startedAt ?? summary.startedAt;
}

function bandOf({ cancelBy }: OrderSummary, nowMs: number): Band {
  if (cancelBy === undefined) return 'none';
  const leftMs = millis(cancelBy) - nowMs;
  if (leftMs < 0) return 'overdue';
  return leftMs < 12 * HOUR_MS ? 'now' : leftMs < 48 * HOUR_MS ? 'soon' : 'later';
}

/** A person overrode the decision of the newest attempt: nothing is left to decide. */
function isDecidedByPerson(state: OrderState | undefined): boolean {
  return state?.attempts.at(-1)?.override !== undefined;
}

/** @returns whether a portal action has failed, or should be done by now */
export function isStuck(action: ActionRecord, nowMs: number): boolean {
  const { tries = 0, requestedAt } = action;
  return isUnderWay(action) && (tries > 0 || nowMs - millis(requestedAt) >= STUCK_AFTER_MS);
}

function stuckAction({ actions }: OrderState, nowMs: number): ActionRecord | undefined {
  return actions.find((one) => isStuck(one, nowMs));
}

/** The checkout was answered without a decision, which the order still tries to get. */
function isHeld({ phase, attempts }: OrderState): boolean {
  return phase === 'screening' && attempts.at(-1)?.answer !== undefined;
}

function whyOf({ summary, state }: QueuedOrder, nowMs: number): Why {
  if (summary.problem !== undefined) {
    return {
      flag: 'Attention',
      words: 'The API’s PAYLOAD_KEYS can’t decrypt the record: see docs/encryption.md',
    };
  }
  const [first, ...others] = (summary.attention ?? []).map((one) => one.words.replace(/\.$/, ''));
  if (first !== undefined) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    return { flag: 'Attention', words: `${first}${more}` };
  }
  if (summary.needsAttention) return { flag: 'Attention', words: 'Open the order to see the reason' };
  const phase = PHASE_WORDS[summary.phase ?? 'closed'] ?? '';
  if (state === undefined) return { words: phase };
  const open = summary.closedAt === undefined;
  const stuck = open ? stuckAction(state, nowMs) : undefined;
  if (stuck !== undefined) return { flag: 'Stuck', words: stuckWords(stuck, nowMs) };
  if (open && isHeld(state)) return { flag: 'Held', words: heldWords(state, nowMs) };
  if (!open && state.phase === 'review') return { words: 'The workflow was terminated during the review' };
  const strongest = strongestOf(evidenceOf(state));
  return {
    words: strongest
      ? insightWords(strongest)
      : state.reason === undefined
        ? phase
        : `No decision: ${state.reason}`,
  };
}

/** What happens to an order in a phase, unless its decision says it. */
export const PHASE_WORDS: Partial<Record<Phase, string>> = {
  screening: 'Waiting for the screening service',
  'awaiting-gateway': 'Waiting for the payment gateway',
  review: 'In review at the screening service',
  declined: 'Declined: another attempt is possible',
  canceled: 'Canceled',
  closed: 'Closed',
};

/** What a portal action is called on the pages. */
export const KIND_NAMES: Readonly<Record<ActionRecord['kind'], string>> = {
  cancel: 'Cancel',
  'report-fraud': 'Report fraud',
  chargeback: 'Chargeback',
  'customer-code': 'Attach customer code',
};

/** @returns the failed tries, the last error and the next try in words */
export function triesWords({ tries = 0, lastError, nextTryAt }: FailedTries, nowMs: number): string {
  const times = tries === 1 ? 'once' : `${tries} times`;
  const error = lastError === undefined ? '' : ` (${lastError.replace(/\.$/, '')})`;
  const next = nextTryAt === undefined ? 'being tried again' : `next try ${ahead(nextTryAt, nowMs)}`;
  return `${times}${error}, ${next}`;
}

function ahead(at: Instant, nowMs: number): string {
  return millis(at) <= nowMs ? 'now' : `in ${duration(millis(at) - nowMs)}`;
}

function stuckWords(action: ActionRecord, nowMs: number): string {
  const { kind, status, requestedAt, tries = 0 } = action;
  if (tries > 0) return `${KIND_NAMES[kind]} failed ${triesWords(action, nowMs)}`;
  const since = duration(Math.max(0, nowMs - millis(requestedAt)));
  return `${KIND_NAMES[kind]} requested ${since} ago, ${status === 'queued' ? 'still waiting' : 'not done yet'}`;
}

function heldWords({ attempts, reason, held }: NonNullable<QueuedOrder['state']>, nowMs: number): string {
  const since = attempts.at(-1)?.startedAt;
  const time = since === undefined ? '' : ` ${duration(Math.max(0, nowMs - millis(since)))}`;
  if (held?.tries !== undefined)
    return `Waiting${time} for the screening service: failed ${triesWords(held, nowMs)}`;
  return `Waiting${time} for the screening service${reason === undefined ? '' : ` (${reason})`}`;
}

/** An insight with the reading that it comes from. */
export interface Evidence extends Insight {
  at: Instant;
  source: Reading['source'];
  attempt: number;
  /** No earlier reading of the order has it. */
  isNew: boolean;
}

/** By the screening service's groups: risk is against the order, trust for it. */
export type AllEvidence = Record<keyof Insights, Evidence[]>;

const IMPACTS = ['high', 'medium', 'low'];

/** @returns the insights of the newest reading that has any, each with the reading that had it first, highest impact first */
export function evidenceOf(state: OrderState): AllEvidence {
  const readings = state.attempts.flatMap(({ number, readings }) =>
    readings
      .filter(({ insights }) => insights !== undefined)
      .map((reading) => ({ ...reading, attempt: number })),
  );
  const newest = readings.at(-1);
  const of = (group: keyof Insights): Evidence[] => {
    const found = Object.values(newest?.insights?.[group] ?? {}).flatMap((insight) => {
      const same = (one: Insight) => one.description === insight.description && one.name === insight.name;
      const first = readings.find(({ insights }) => Object.values(insights?.[group] ?? {}).some(same));
      if (first === undefined) return [];
      const { at, source, attempt } = first;
      return [{ ...insight, at, source, attempt, isNew: first === newest && readings.length > 1 }];
    });
    const weight = ({ impact = 'low' }: Insight) => IMPACTS.indexOf(impact);
    return found.toSorted((a, b) => weight(a) - weight(b));
  };
  const [risk, trust] = [of('risk'), of('trust')];
  return { risk, trust, neutral: of('neutral'), recommendation: of('recommendation') };
}

/** @returns the insight that says most about why the order needs a person */
export function strongestOf({ risk, recommendation, neutral, trust }: AllEvidence): Evidence | undefined {
  return [...risk, ...recommendation, ...neutral, ...trust][0];
}

/** @returns an insight in words */
export function insightWords({ description, name }: Insight): string {
  return description ?? name ?? 'no description';
}

/** The whole queue, nearest deadline first. */
export interface Snapshot {
  entries: readonly Entry[];
  /** There are more orders than were read. */
  cut: boolean;
  /** The order with the next deadline, also if a person has decided it. */
  next?: OrderSummary | undefined;
  /** When it was read. */
  atMs: number;
}

/** @returns the queue of these orders */
export function snapshotOf(orders: readonly QueuedOrder[], cut: boolean, nowMs: number): Snapshot {
  const entries = orders.flatMap((order) => queueEntry(order, nowMs) ?? []).sort(byDeadline);
  const [next] = orders
    .map(({ summary }) => summary)
    .filter(({ closedAt, cancelBy = '' }) => closedAt === undefined && cancelBy > instant(nowMs))
    .sort((a, b) => ((a.cancelBy ?? '') < (b.cancelBy ?? '') ? -1 : 1));
  return { entries, cut, next, atMs: nowMs };
}

function byDeadline(a: Entry, b: Entry): number {
  const [first, second] = [a, b].map(({ summary, since }) => summary.cancelBy ?? `~${since}`);
  return (first ?? '') < (second ?? '') ? -1 : 1;
}

/** @returns how many entries each tab has, after the other filters */
export function countTabs(entries: readonly Entry[], filters: Filters): Record<Tab, number> {
  const counts = { overdue: 0, soon: 0, attention: 0, stuck: 0, held: 0, all: 0, snoozed: 0 };
  for (const entry of entries) {
    if (matches(entry, filters)) for (const tab of entry.tabs) counts[tab] += 1;
  }
  return counts;
}

/** @returns the entries of a list */
export function filtered(entries: readonly Entry[], filters: Filters): Entry[] {
  return entries.filter((entry) => entry.tabs.some((tab) => tab === filters.list) && matches(entry, filters));
}

/** @returns whether an entry is left by the filters other than the list */
function matches({ summary }: Entry, filters: Filters): boolean {
  const { integration, decision, phase, amountFrom = 0, amountTo = Number.POSITIVE_INFINITY } = filters;
  const { amount } = summary;
  return (
    (integration === undefined || summary.integration === integration) &&
    (decision === undefined || summary.decision === decision) &&
    (phase === undefined || summary.phase === phase) &&
    (filters.amountFrom === undefined || (amount !== undefined && amount >= amountFrom)) &&
    (filters.amountTo === undefined || (amount !== undefined && amount < amountTo))
  );
}
