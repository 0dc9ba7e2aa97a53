/** The queue: which orders a person has to act on, why, and in which lists and bands each one is. */
import { createHash } from 'node:crypto';
import type { ActionRecord, FailedTries } from '../../../contract/order/state.ts';
import { portalKind } from '../../../contract/portal/portal-kinds.ts';
import { type Instant, instant, millis } from '../../../contract/words.ts';
import { currentAttempt } from '../../../order/record.ts';
import { isUnderWay } from '../../../order/transactions.ts';
import { PHASE_WORDS } from '../../../order/view/describe.ts';
import type { OrderSummary, QueuedOrder } from '../../../starter.ts';
import { type Filters, TABS, type Tab } from '../addresses.ts';
import { evidenceOf, insightWords } from '../evidence.ts';
import { duration, HOUR_MS } from '../words.ts';

/** A portal action that isn't done after this time is stuck, even if no try is known to have failed; a checkout without an answer is held. */
const STUCK_AFTER_MS = 60_000;

/** The sections of the table, in their sequence, and how much of an order's cancel window is left in each. */
export const BANDS = [
  { band: 'overdue', underMs: 0, name: 'Overdue' },
  { band: 'now', underMs: 12 * HOUR_MS, name: 'Within 12 hours' },
  { band: 'soon', underMs: 48 * HOUR_MS, name: 'Within 48 hours' },
  { band: 'later', underMs: Number.POSITIVE_INFINITY, name: 'Later' },
  { band: 'none', underMs: undefined, name: 'No deadline yet' },
] as const;

export interface Entry {
  summary: OrderSummary;
  /** Why it is in the queue. `flag`: its kind, if it isn't a review. */
  why: { flag?: 'Attention' | 'Stuck' | 'Held'; words: string };
  /** The lists of the queue that have it; none if there is nothing to do for a person. */
  tabs: readonly Tab[];
  band: (typeof BANDS)[number]['band'];
  since: Instant;
}

export function entryOf(order: QueuedOrder, nowMs: number): Entry {
  const { summary } = order;
  const leftMs = summary.cancelBy === undefined ? Number.POSITIVE_INFINITY : millis(summary.cancelBy) - nowMs;
  const band = BANDS.find(({ underMs = 0 }) => leftMs < underMs)?.band ?? 'none';
  const trouble = troubleOf(order, nowMs);
  const tabs = tabsOf(order, band, trouble);
  return { summary, why: whyOf(order, trouble, nowMs), tabs, band, since: cameAt(order) };
}

function tabsOf({ summary, state }: QueuedOrder, band: Entry['band'], trouble: Trouble): readonly Tab[] {
  if (summary.snoozedUntil !== undefined) return ['snoozed'];
  // A terminated order stays while it can still be adopted or canceled.
  const isOver = summary.closedAt !== undefined && (summary.cancelBy === undefined || band === 'overdue');
  // A person who overrode the decision of the newest attempt has left nothing to decide.
  const review = summary.phase === 'review' && !isOver && state?.attempts.at(-1)?.override === undefined;
  const attention = summary.needsAttention || summary.problem !== undefined;
  const [stuck, held] = [trouble.stuck !== undefined, trouble.held !== undefined];
  const all = review || attention || stuck || held;
  const has = { overdue: band === 'overdue', soon: band === 'now', attention, stuck, held, all };
  return all ? TABS.filter((tab) => has[tab]) : [];
}

/** @returns what changes when the order or its words change, except for times */
export function markOf({ summary, why: { flag, words } }: Entry): string {
  // Words of a running action have durations in them, which change with every page.
  const shown = JSON.stringify([summary, flag, flag === undefined || flag === 'Attention' ? words : flag]);
  return createHash('sha256').update(shown).digest('base64url').slice(0, 5);
}

/** @returns when the order came: for an adopted order, when it was screened */
export function cameAt({ summary, state }: QueuedOrder): Instant {
  return state?.adopted?.screenedAt ?? state?.startedAt ?? summary.startedAt;
}

/** @returns whether a portal action has failed, or should be done by now */
export function isStuck(action: ActionRecord, nowMs: number): boolean {
  const { tries = 0, requestedAt } = action;
  return isUnderWay(action) && (tries > 0 || nowMs - millis(requestedAt) >= STUCK_AFTER_MS);
}

type Trouble = ReturnType<typeof troubleOf>;

/** The action that is stuck. `held`: neither the checkout's answer nor a person has decided, and the screening continues, or no worker takes it. */
function troubleOf({ summary, state }: QueuedOrder, nowMs: number) {
  if (state === undefined || summary.closedAt !== undefined) return {};
  const { answer, override, startedAt } = currentAttempt(state);
  const isAnswered = answer !== undefined || nowMs - millis(startedAt) >= STUCK_AFTER_MS;
  const isHeld = state.phase === 'screening' && isAnswered && override === undefined;
  return { stuck: state.actions.find((one) => isStuck(one, nowMs)), held: isHeld ? state : undefined };
}

function whyOf({ summary, state }: QueuedOrder, { stuck, held }: Trouble, nowMs: number): Entry['why'] {
  const needed = attentionWords(summary);
  if (needed !== undefined) return { flag: 'Attention', words: needed };
  if (stuck !== undefined) return { flag: 'Stuck', words: stuckWords(stuck, nowMs) };
  if (held !== undefined) return { flag: 'Held', words: heldWords(held, nowMs) };
  const phase = PHASE_WORDS[summary.phase ?? 'closed'];
  if (state === undefined) return { words: phase };
  if (summary.closedAt !== undefined && state.phase === 'review')
    return { words: 'The workflow was terminated during the review' };
  const [strongest] = evidenceOf(state);
  if (strongest !== undefined) return { words: insightWords(strongest) };
  return { words: state.reason === undefined ? phase : `No decision: ${state.reason}` };
}

function attentionWords({ problem, attention = [], needsAttention }: OrderSummary): string | undefined {
  if (problem !== undefined) return 'The API’s PAYLOAD_KEYS can’t decrypt the record: see docs/encryption.md';
  const [first, ...others] = attention.map(({ words }) => words.replace(/\.$/, ''));
  if (first !== undefined) return others.length > 0 ? `${first} (and ${others.length} more)` : first;
  return needsAttention ? 'Open the order to see the reason' : undefined;
}

export function triesWords({ tries = 0, lastError, nextTryAt }: FailedTries, nowMs: number): string {
  const times = tries === 1 ? 'once' : `${tries} times`;
  const error = lastError === undefined ? '' : ` (${lastError.replace(/\.$/, '')})`;
  if (nextTryAt === undefined) return `${times}${error}, being tried again`;
  const leftMs = millis(nextTryAt) - nowMs;
  return `${times}${error}, next try ${leftMs <= 0 ? 'now' : `in ${duration(leftMs)}`}`;
}

function stuckWords(action: ActionRecord, nowMs: number): string {
  const { kind, status, requestedAt, tries = 0 } = action;
  if (tries > 0) return `${portalKind(kind).name} failed ${triesWords(action, nowMs)}`;
  const since = duration(nowMs - millis(requestedAt));
  return `${portalKind(kind).name} requested ${since} ago, ${status === 'queued' ? 'still waiting' : 'not done yet'}`;
}

function heldWords(state: NonNullable<QueuedOrder['state']>, nowMs: number): string {
  const { reason, held } = state;
  const { answer, startedAt } = currentAttempt(state);
  // A worker that runs records an answer in any case.
  const waiting = `Waiting ${duration(nowMs - millis(startedAt))} for ${answer ? 'the screening service' : 'a worker'}`;
  if (held?.tries !== undefined) return `${waiting}: failed ${triesWords(held, nowMs)}`;
  return reason === undefined ? waiting : `${waiting} (${reason})`;
}

/** The whole queue, nearest deadline first. */
export interface Snapshot {
  entries: readonly Entry[];
  /** There are more orders than were read. */
  cut: boolean;
  /** The order with the next deadline, also if a person has decided it. */
  next?: OrderSummary | undefined;
  atMs: number;
}

export function snapshotOf(orders: readonly QueuedOrder[], cut: boolean, nowMs: number): Snapshot {
  const deadlineOf = ({ summary, since }: Entry) => summary.cancelBy ?? `~${since}`;
  const entries = orders
    .map((order) => entryOf(order, nowMs))
    .filter(({ tabs }) => tabs.length > 0)
    .sort((a, b) => (deadlineOf(a) < deadlineOf(b) ? -1 : 1));
  const [next] = orders
    .map(({ summary }) => summary)
    .filter(({ closedAt, cancelBy = '' }) => closedAt === undefined && cancelBy > instant(nowMs))
    .sort((a, b) => ((a.cancelBy ?? '') < (b.cancelBy ?? '') ? -1 : 1));
  return { entries, cut, next, atMs: nowMs };
}

/** @returns how many entries each tab has, after the other filters */
export function countTabs(entries: readonly Entry[], filters: Filters): Record<Tab, number> {
  const counts = { overdue: 0, soon: 0, attention: 0, stuck: 0, held: 0, all: 0, snoozed: 0 };
  for (const entry of entries) {
    if (matches(entry, filters)) for (const tab of entry.tabs) counts[tab] += 1;
  }
  return counts;
}

export function filtered(entries: readonly Entry[], filters: Filters): Entry[] {
  return entries.filter((entry) => entry.tabs.some((tab) => tab === filters.list) && matches(entry, filters));
}

/** @returns whether an entry is left by the filters other than the list */
function matches({ summary }: Entry, filters: Filters): boolean {
  const { integration, decision, phase, amountFrom, amountTo } = filters;
  // No number is more or less than a missing amount.
  const { amount = Number.NaN } = summary;
  return (
    (integration === undefined || summary.integration === integration) &&
    (decision === undefined || summary.decision === decision) &&
    (phase === undefined || summary.phase === phase) &&
    (amountFrom === undefined || amount >= amountFrom) &&
    (amountTo === undefined || amount < amountTo)
  );
}
