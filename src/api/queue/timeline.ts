/** An order's history, the last and next read of its decision, and its next automatic steps. */
import type { ActionRecord, Attempt, OrderState } from '../../contract/state.ts';
import type { Instant } from '../../contract/words.ts';
import { allDeadlines } from '../../orders/deadlines.ts';
import { describeDeadline } from '../../orders/describe.ts';
import type { InspectedOrder } from '../../starter.ts';

export interface Checks {
  last?: { at: Instant; source: string; answered: boolean };
  next?: { at: Instant; source: string };
}

/** The order's state has a poll's reading only if the decision changed, so the pending poll is checked as well. */
export function checksOf({ state, poll }: Pick<InspectedOrder, 'state' | 'poll'>, nowMs: number): Checks {
  const read = state?.lastRead && { ...state.lastRead, answered: true };
  const polled =
    poll?.lastAt === undefined
      ? undefined
      : { at: poll.lastAt, source: 'poll', answered: poll.answered === true };
  const last = read && polled && read.at > polled.at ? read : (polled ?? read);
  const next = [...(poll?.nextAt === undefined ? [] : [{ at: poll.nextAt, source: 'poll' }]), ...due()].sort(
    byTime,
  )[0];
  return { ...(last && { last }), ...(next && { next }) };

  function due(): { at: Instant; source: string }[] {
    if (state === undefined) return [];
    return allDeadlines(state)
      .filter(({ kind, at }) => kind in READS && !state.passed.includes(kind) && Date.parse(at) > nowMs)
      .map(({ kind, at }) => ({ at, source: READS[kind] ?? kind }));
  }
}

/** Sorts by time, earliest first. */
function byTime(a: { at: Instant }, b: { at: Instant }): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}

/** The deadlines at which the order reads its decision, with the source that the page shows. */
const READS: Readonly<Record<string, string>> = {
  recheck: 'recheck',
  rescreen: 'rescreen',
  'hint-spacing': 'webhook',
};

export interface Happening {
  at: Instant;
  words: string;
}

/** @returns all recorded events, oldest first */
export function timelineOf({ summary, state, poll }: InspectedOrder): Happening[] {
  const found: Happening[] = [];
  const add = (at: Instant | undefined, words: string): void => {
    if (at !== undefined) found.push({ at, words });
  };
  if (state === undefined) add(summary.startedAt, 'The order’s workflow was started');
  else addState(state, add);
  if (poll?.lastAt !== undefined) {
    add(poll.lastAt, poll.answered ? 'Polled: no change' : 'Polled: the screening service did not answer');
  }
  add(summary.closedAt, 'Closed');
  return found.sort(byTime);
}

/** @returns the next automatic steps, nearest first */
export function upcoming({ state, poll }: InspectedOrder, nowMs: number): Happening[] {
  const found = poll?.nextAt === undefined ? [] : [{ at: poll.nextAt, words: 'The decision is polled' }];
  if (state !== undefined) {
    for (const { kind, at } of allDeadlines(state)) {
      if (!state.passed.includes(kind)) found.push({ at, words: describeDeadline(kind) });
    }
  }
  return found.filter(({ at }) => Date.parse(at) >= nowMs).sort(byTime);
}

type Add = (at: Instant | undefined, words: string) => void;

function addState(state: OrderState, add: Add): void {
  add(state.startedAt, 'Order received');
  for (const attempt of state.attempts) addAttempt(attempt, add);
  for (const action of state.actions) addAction(action, add);
  for (const { since, words } of state.attention) add(since, `Needs attention: ${words}`);
  const { lastRead } = state;
  const recorded = state.attempts.some(({ readings }) => readings.some(({ at }) => at === lastRead?.at));
  if (!recorded) add(lastRead?.at, `Status read: ${state.decision} (${lastRead?.source})`);
  add(state.phaseSince, `Phase ${state.phase}, action ${state.action}`);
}

function addAttempt({ number, startedAt, readings, gateway, ...attempt }: Attempt, add: Add): void {
  if (number > 1) add(startedAt, `Attempt ${number} received`);
  for (const { at, decision, source } of readings) add(at, `Decision ${decision} (${source})`);
  if (gateway !== undefined) {
    const { sent } = gateway;
    add(gateway.at, `Payment gateway result ${gateway.result}${sent === 'given-up' ? NOT_SENT : ''}`);
    for (const { result, at } of gateway.contradictions ?? []) {
      add(at, `Payment gateway result ${result}, which contradicts ${gateway.result}`);
    }
    if (sent !== 'recorded' && sent !== 'given-up') add(sent, 'Gateway result sent to the screening service');
  }
  add(attempt.declinedAt, 'Declined: a new attempt is possible');
}

const NOT_SENT = ', not sent to the screening service';

function addAction({ kind, status, by, because, ...action }: ActionRecord, add: Add): void {
  const who = by === 'policy' ? 'by the policy' : 'by a caller';
  add(action.requestedAt, `Requested ${who}: ${kind}${because ? ` (${because})` : ''}`);
  const echo = Object.entries(action.chargeback ?? {}).map(([name, value]) => `${name} ${value}`);
  const said = [[action.code, action.message].filter(Boolean).join(' '), ...echo].filter(Boolean).join(', ');
  add(action.finishedAt, `${kind}: ${status}${said ? ` (${said})` : ''}`);
}
