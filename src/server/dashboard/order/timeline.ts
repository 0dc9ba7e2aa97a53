/** An order's history, built from recorded facts only, and the last read of its decision. */
import { SIGNED_IN } from '../../../config/index.ts';
import type { ActionRecord, Attempt, OrderState } from '../../../contract/order/state.ts';
import { isPortalAction, portalKind } from '../../../contract/portal/portal-kinds.ts';
import { type Instant, instant, type JournalEntry, type ReadingSource } from '../../../contract/words.ts';
import type { AfterEnd, InspectedOrder } from '../../../starter.ts';
import { evidenceOf, insightWords } from '../evidence.ts';
import { type Html, html, type Shown } from '../html.ts';
import { decisionPill } from '../layout.ts';
import { clock, dayOf, type Now, timeOfDay } from '../words.ts';

/** @returns the last read. The state has a poll's reading only if the decision changed, so the pending poll is checked as well */
export function lastCheck({ state, poll }: Pick<InspectedOrder, 'state' | 'poll'>) {
  const read = state?.lastRead && { ...state.lastRead, answered: true };
  if (poll?.lastAt === undefined || (read && read.at > poll.lastAt)) return read;
  return { at: poll.lastAt, source: 'poll' as const, answered: poll.answered === true };
}

export function byTime(a: { at: Instant }, b: { at: Instant }): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}

type Kind = 'person' | 'service' | 'wrong' | 'plain';
/** Adds a recorded fact; none without a time. */
type Add = (at: Instant | undefined, kind: Kind, title: Shown, more?: More) => void;

/** `origin`: who did it, or how it came. `until`: a later time that the title ends with. `words` are ours, `quote` somebody's own. */
type More = Partial<Record<'origin' | 'until' | 'words' | 'quote', string | undefined>>;

/** @returns all recorded facts by day, newest first */
export function timeline({ summary, state, poll, afterEnd }: InspectedOrder, now: Now): Html[] {
  const facts: { at: Instant; line: Html }[] = [];
  const add: Add = (at, kind, title, { origin, until, words, quote } = {}) => {
    if (at === undefined) return;
    const line = html`<li class="${kind}"><time datetime="${at}" title="${timeOfDay(at, now, true)}">${timeOfDay(at, now)}</time><b>${title}${until && html` ${clock(until, now)}`}</b>${origin && html` <span class="quiet">${origin}</span>`}${words && html`<p>${words}</p>`}${quote && html`<blockquote>${quote}</blockquote>`}</li>\n`;
    facts.push({ at, line });
  };
  if (state === undefined) add(summary.startedAt, 'plain', 'The order’s workflow was started');
  else addState(state, add);
  if (poll?.answered) add(poll.lastAt, 'plain', 'Polled: no change');
  else add(poll?.lastAt, 'wrong', 'Polled: no decision could be read');
  add(summary.closedAt, 'plain', 'Closed');
  if (afterEnd !== undefined) addAfterEnd(afterEnd, add);
  const days = new Map<string, Html[]>();
  // Facts of the same moment were added in the sequence in which they happened.
  for (const { at, line } of facts.sort(byTime).reverse()) {
    const day = dayOf(at, now);
    days.set(day, [...(days.get(day) ?? []), line]);
  }
  const today = dayOf(instant(now.ms), now);
  return [...days].map(([day, lines]) => html`<h3>${day === today && 'Today, '}${day}</h3><ol>${lines}</ol>`);
}

function addState(state: OrderState, add: Add): void {
  const { adopted, attempts, actions, journal = [], attention, lastRead } = state;
  add(adopted?.screenedAt, 'service', 'Screened outside of order-screening');
  add(state.startedAt, 'plain', adopted === undefined ? 'Order received' : 'Order adopted');
  for (const attempt of attempts) addAttempt(attempt, state, add);
  for (const entry of journal) addEntry(entry, state, add);
  for (const action of actions) addAction(action, journal, add);
  for (const { since, words } of attention) add(since, 'wrong', `Needs attention: ${words}`);
  const recorded = attempts.some(({ readings }) => readings.some(({ at }) => at === lastRead?.at));
  if (!recorded && lastRead !== undefined)
    add(lastRead.at, 'service', 'Read: no change', { origin: ORIGINS[lastRead.source] });
}

/** What triggered a read, in words. */
export const ORIGINS: Readonly<Record<ReadingSource, string>> = {
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

function addAttempt(attempt: Attempt, state: OrderState, add: Add): void {
  const { number, startedAt, readings, gateway, override } = attempt;
  if (number > 1) add(startedAt, 'plain', `Attempt ${number} received`);
  const found = evidenceOf(state).filter(
    ({ group, isNew }) => isNew && (group === 'risk' || group === 'trust'),
  );
  for (const { at, decision, source } of readings) {
    const isNew = found.filter((one) => one.at === at).map(insightWords);
    const words = isNew.length > 0 ? `New: ${isNew.join('; ')}` : undefined;
    add(at, 'service', html`Decision ${decisionPill(decision)}`, { origin: ORIGINS[source], words });
  }
  // The journal has it too, unless it is so long that it left the entry out.
  const journaled = state.journal?.some(({ what, at }) => what === 'override' && at === override?.at);
  if (override !== undefined && !journaled)
    add(override.at, 'person', OVERRIDES[override.action], { quote: override.reason });
  if (gateway !== undefined) {
    const { sent } = gateway;
    const lost = sent === 'not-sent' ? ', not sent to the screening service' : '';
    add(gateway.at, 'plain', `Payment gateway result ${gateway.result}${lost}`);
    for (const { result, at } of gateway.contradictions ?? [])
      add(at, 'wrong', `Payment gateway result ${result}, which contradicts ${gateway.result}`);
    if (sent !== 'recorded' && sent !== 'not-sent')
      add(sent, 'plain', 'Gateway result sent to the screening service');
  }
  add(attempt.declinedAt, 'plain', 'Declined: a new attempt is possible');
}

const OVERRIDES = { proceed: 'Approved: proceed', cancel: 'Rejected: cancel' } as const;

/** Portal actions are shown by their own records; a second request for the same action joined it. */
function addEntry(entry: JournalEntry, { actions, journal = [] }: OrderState, add: Add): void {
  const { at, what, number = '', action, by, because, assignee, until } = entry;
  const say = (title: string) => add(at, 'person', title, { origin: whoOf(by), quote: because, until });
  if (what === 'override') say(action === undefined ? 'Decision overridden' : OVERRIDES[action]);
  else if (what === 'withdraw') say(`Withdrawal of action ${number} requested`);
  else if (what === 'acknowledge') say('Attention resolved');
  else if (what === 'adopt') say('Adoption requested');
  else if (what === 'note') say('Note');
  else if (what === 'assign') say(`Assigned to ${assignee ?? 'nobody'}`);
  else if (what === 'snooze') say('Snoozed until');
  else if (requestOf(journal, entry.number) !== entry)
    say(`${portalKind(what).name} requested again: joined action ${number}`);
  else if (!actions.some((one) => one.number === number)) say(`${portalKind(what).name} requested`);
}

/** @returns the journal's entry of the request for a portal action */
export function requestOf(journal: readonly JournalEntry[], number: number | undefined) {
  return journal.find((one) => one.number === number && isPortalAction(one.what));
}

/** @returns the caller in words. API keys, and people who signed in, are verified; other names are as claimed */
export function whoOf(by: JournalEntry['by']): string {
  const { actor, key } = by ?? {};
  if (key === SIGNED_IN && actor !== undefined) return actor;
  const words = [actor && `${actor} (as claimed)`, key && `key ${key}`].filter(Boolean);
  return words.length === 0 ? 'an unnamed caller' : words.join(', ');
}

const STATUSES: Partial<Record<ActionRecord['status'], string>> = {
  unconfirmed: 'sent, but not confirmed',
  'too-late': 'not sent before the cancel window closed',
  'not-sent': 'not sent within a day',
};

function addAction(record: ActionRecord, journal: readonly JournalEntry[], add: Add): void {
  const { number, kind, by, because } = record;
  const entry = requestOf(journal, number);
  // The cancel of an override is in the journal as the override.
  const caller = entry === undefined ? 'a caller' : whoOf(entry.by);
  const isPolicy = by === 'policy';
  const more = { origin: `${isPolicy ? 'the policy' : caller} · action ${number}`, quote: because };
  add(record.requestedAt, isPolicy ? 'plain' : 'person', `${portalKind(kind).name} requested`, more);
  addResult(record, add, `action ${number}`);
}

type Ended = Pick<ActionRecord, 'kind' | 'status' | 'code' | 'message' | 'chargeback' | 'finishedAt'>;

/** How a portal action ended, with what the screening service answered. */
function addResult(action: Ended, add: Add, origin?: string): void {
  const { kind, status, code, message, chargeback = {}, finishedAt } = action;
  const echo = Object.entries(chargeback).map(([name, value]) => `${name} ${value}`);
  const words = [[code, message].filter(Boolean).join(' '), ...echo].filter(Boolean).join(', ');
  const ended = status === 'done' || status === 'withdrawn';
  const title = `${portalKind(kind).name} ${STATUSES[status] ?? status}`;
  add(finishedAt, ended ? 'service' : 'wrong', title, { origin, words });
}

/** What happened after the order's end. Its portal actions and redeliveries keep who asked in workflows of their own. */
function addAfterEnd({ decisions, actions, redeliveries }: AfterEnd, add: Add): void {
  const after = { origin: 'after the end' };
  for (const { at, decision, action } of decisions)
    add(at, 'service', html`Decision ${decisionPill(decision, action)}`, after);
  for (const action of actions) {
    add(action.requestedAt, 'person', `${portalKind(action.kind).name} requested`, after);
    addResult(action, add);
  }
  for (const { sequence, status, requestedAt } of redeliveries)
    add(requestedAt, 'person', `Event ${sequence} sent again: ${status}`, after);
}
