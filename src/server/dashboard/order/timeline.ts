/** An order's history, built from recorded facts only; the last read of its decision; its next automatic steps. */
import { SIGNED_IN } from '../../../config/index.ts';
import type { ActionRecord, Attempt, OrderState } from '../../../contract/order/state.ts';
import type { By, Instant, JournalEntry } from '../../../contract/words.ts';
import { allDeadlines } from '../../../order/deadlines.ts';
import { currentAttempt } from '../../../order/record.ts';
import { cancelByOf } from '../../../order/transactions.ts';
import { describeDeadline } from '../../../order/view/describe.ts';
import type { AfterEnd, InspectedOrder, LateAction } from '../../../starter.ts';
import { html, type Shown } from '../html.ts';
import { decisionPill } from '../layout.ts';
import { evidenceOf, insightWords, KIND_NAMES } from '../queue/queue-list.ts';

/** @returns the last read. The state has a poll's reading only if the decision changed, so the pending poll is checked as well */
export function lastCheck({ state, poll }: Pick<InspectedOrder, 'state' | 'poll'>) {
  const read = state?.lastRead && { ...state.lastRead, answered: true };
  if (poll?.lastAt === undefined || (read && read.at > poll.lastAt)) return read;
  return { at: poll.lastAt, source: 'poll', answered: poll.answered === true };
}

/** Sorts by time, earliest first. */
function byTime(a: { at: Instant }, b: { at: Instant }): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}

/** @returns the next automatic steps, nearest first; none of a workflow that has ended, also before its order did */
export function upcoming(
  { summary, state, poll }: InspectedOrder,
  nowMs: number,
): { at: Instant; words: string }[] {
  const found = poll?.nextAt === undefined ? [] : [{ at: poll.nextAt, words: 'The decision is polled' }];
  if (state !== undefined && summary.closedAt === undefined) {
    const cancelBy = cancelByOf(state, currentAttempt(state));
    // The order of a review stays open after its cancel window, so that moment is no deadline of it.
    const isReview = state.phase === 'review' || state.phase === 'awaiting-gateway';
    if (isReview && state.decision === 'review' && cancelBy !== undefined)
      found.push({ at: cancelBy, words: 'The cancel window closes' });
    for (const { kind, at } of allDeadlines(state)) {
      if (!state.passed.includes(kind)) found.push({ at, words: describeDeadline(kind) });
    }
  }
  return found.filter(({ at }) => Date.parse(at) >= nowMs).sort(byTime);
}

/** A recorded fact. */
export interface Fact {
  at: Instant;
  title: Shown;
  /** Its origin in a few words: who did it, or how it came. */
  origin?: string | undefined;
  /** A later time that the title ends with. */
  until?: Instant | undefined;
  /** More words of ours. */
  words?: string | undefined;
  /** Somebody's own words. */
  quote?: string | undefined;
  kind: 'person' | 'service' | 'wrong' | 'plain';
}

type Add = (at: Instant | undefined, title: Shown, more?: Partial<Omit<Fact, 'at' | 'title'>>) => void;

/** @returns all recorded facts, newest first */
export function timelineOf({ summary, state, poll, afterEnd }: InspectedOrder): Fact[] {
  const found: Fact[] = [];
  const add: Add = (at, title, more) => {
    if (at !== undefined) found.push({ at, title, kind: 'plain', ...more });
  };
  if (state === undefined) add(summary.startedAt, 'The order’s workflow was started');
  else addState(state, add);
  if (poll?.lastAt !== undefined) {
    const answered = poll.answered === true;
    const title = answered ? 'Polled: no change' : 'Polled: the screening service did not answer';
    add(poll.lastAt, title, { kind: answered ? 'plain' : 'wrong' });
  }
  add(summary.closedAt, 'Closed');
  if (afterEnd !== undefined) addAfterEnd(afterEnd, add);
  // Facts of the same moment were added in the sequence in which they happened.
  return found.sort(byTime).reverse();
}

function addState(state: OrderState, add: Add): void {
  const { adopted, attempts, actions, journal = [], attention, lastRead } = state;
  if (adopted !== undefined)
    add(adopted.screenedAt, 'Screened outside of order-screening', { kind: 'service' });
  add(state.startedAt, adopted === undefined ? 'Order received' : 'Order adopted');
  for (const attempt of attempts) addAttempt(attempt, state, add);
  for (const entry of journal) addEntry(entry, state, add);
  for (const action of actions) addAction(action, journal, add);
  for (const { since, words } of attention) add(since, `Needs attention: ${words}`, { kind: 'wrong' });
  const recorded = attempts.some(({ readings }) => readings.some(({ at }) => at === lastRead?.at));
  if (!recorded && lastRead !== undefined) {
    add(lastRead.at, 'Read: no change', { origin: originOf(lastRead.source), kind: 'service' });
  }
}

const ORIGINS: Readonly<Record<string, string>> = {
  checkout: 'at checkout',
  'catch-up': 'by a retry after the checkout',
  rescreen: 'screened again',
  webhook: 'after a webhook',
  poll: 'by a poll',
  operator: 'by a recheck',
  recheck: 'before the cancel window closes',
  'look-up': 'found by its invoice number',
  adoption: 'at adoption',
};

/** @returns what triggered a read, in words */
export function originOf(source: string): string {
  return ORIGINS[source] ?? source;
}

function addAttempt(attempt: Attempt, state: OrderState, add: Add): void {
  const { number, startedAt, readings, gateway, override } = attempt;
  if (number > 1) add(startedAt, `Attempt ${number} received`);
  const { risk, trust } = evidenceOf(state);
  for (const { at, decision, source } of readings) {
    const isNew = [...risk, ...trust].filter((one) => one.isNew && one.at === at).map(insightWords);
    const origin = originOf(source);
    const words = isNew.length > 0 ? `New: ${isNew.join('; ')}` : undefined;
    add(at, html`Decision ${decisionPill(decision)}`, { origin, words, kind: 'service' });
  }
  // The journal has it too, unless it is so long that it left the entry out.
  const journaled = state.journal?.some(({ what, at }) => what === 'override' && at === override?.at);
  if (override !== undefined && !journaled) {
    add(override.at, OVERRIDES[override.action], { quote: override.reason, kind: 'person' });
  }
  if (gateway !== undefined) {
    const { sent } = gateway;
    const lost = sent === 'given-up' ? ', not sent to the screening service' : '';
    add(gateway.at, `Payment gateway result ${gateway.result}${lost}`);
    for (const { result, at } of gateway.contradictions ?? []) {
      add(at, `Payment gateway result ${result}, which contradicts ${gateway.result}`, { kind: 'wrong' });
    }
    if (sent !== 'recorded' && sent !== 'given-up') add(sent, 'Gateway result sent to the screening service');
  }
  add(attempt.declinedAt, 'Declined: a new attempt is possible');
}

const OVERRIDES = { proceed: 'Approved: proceed', cancel: 'Rejected: cancel' } as const;

/** Portal actions are shown by their own records; a second request for the same action joined it. */
function addEntry(entry: JournalEntry, { actions, journal = [] }: OrderState, add: Add): void {
  const { at, what, number = '', action, by, because, assignee, until } = entry;
  const more = { origin: whoOf(by), quote: because, kind: 'person' } as const;
  if (what === 'override') add(at, action === undefined ? 'Decision overridden' : OVERRIDES[action], more);
  else if (what === 'withdraw') add(at, `Withdrawal of action ${number} requested`, more);
  else if (what === 'acknowledge') add(at, 'Attention resolved', more);
  else if (what === 'adopt') add(at, 'Adoption requested', more);
  else if (what === 'note') add(at, 'Note', more);
  else if (what === 'assign') add(at, `Assigned to ${assignee ?? 'nobody'}`, more);
  else if (what === 'snooze') add(at, 'Snoozed until', { ...more, until });
  else if (requestOf(journal, entry.number) !== entry) {
    add(at, `${KIND_NAMES[what]} requested again: joined action ${number}`, more);
  } else if (!actions.some((one) => one.number === number)) {
    add(at, `${KIND_NAMES[what]} requested`, more);
  }
}

/** @returns the journal's entry of the request for a portal action */
export function requestOf(journal: readonly JournalEntry[], number: number | undefined) {
  return journal.find((one) => one.number === number && one.what in KIND_NAMES);
}

/** @returns the caller in words. API keys, and people who signed in, are verified; other names are as claimed */
export function whoOf(by: By | undefined): string {
  const { actor, key } = by ?? {};
  if (key === SIGNED_IN && actor !== undefined) return actor;
  const words = [actor && `${actor} (as claimed)`, key && `key ${key}`].filter(Boolean);
  return words.length === 0 ? 'an unnamed caller' : words.join(', ');
}

const STATUSES: Partial<Record<ActionRecord['status'], string>> = {
  done: 'done',
  refused: 'refused',
  unconfirmed: 'sent, but not confirmed',
  'too-late': 'not sent before the cancel window closed',
  'not-sent': 'not sent within a day',
  withdrawn: 'withdrawn',
};

function addAction(record: ActionRecord, journal: readonly JournalEntry[], add: Add): void {
  const { number, kind, by, because } = record;
  const entry = requestOf(journal, number);
  // The cancel of an override is in the journal as the override.
  const caller = entry === undefined ? 'a caller' : whoOf(entry.by);
  const origin = `${by === 'policy' ? 'the policy' : caller} · action ${number}`;
  add(record.requestedAt, `${KIND_NAMES[kind]} requested`, {
    origin,
    quote: because,
    kind: by === 'policy' ? 'plain' : 'person',
  });
  addResult(record, add, `action ${number}`);
}

/** How a portal action ended, with what the screening service answered. */
function addResult(
  action: Omit<LateAction, 'transactionId'> | ActionRecord,
  add: Add,
  origin?: string,
): void {
  const { kind, status, code, message, chargeback = {}, finishedAt } = action;
  const echo = Object.entries(chargeback).map(([name, value]) => `${name} ${value}`);
  const words = [[code, message].filter(Boolean).join(' '), ...echo].filter(Boolean).join(', ');
  const ended = status === 'done' || status === 'withdrawn';
  const title = `${KIND_NAMES[kind]} ${STATUSES[status] ?? status}`;
  add(finishedAt, title, { origin, words, kind: ended ? 'service' : 'wrong' });
}

/** What happened after the order's end. Its portal actions and redeliveries keep who asked in workflows of their own. */
function addAfterEnd({ decisions, actions, redeliveries }: AfterEnd, add: Add): void {
  const after = { origin: 'after the end' };
  for (const { at, decision, action } of decisions)
    add(at, html`Decision ${decisionPill(decision, action)}`, { ...after, kind: 'service' });
  for (const action of actions) {
    add(action.requestedAt, `${KIND_NAMES[action.kind]} requested`, { ...after, kind: 'person' });
    addResult(action, add);
  }
  for (const { sequence, status, requestedAt } of redeliveries)
    add(requestedAt, `Event ${sequence} sent again: ${status}`, { ...after, kind: 'person' });
}
