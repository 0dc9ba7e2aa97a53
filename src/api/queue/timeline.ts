/** What has happened to an order, when its decision was and will be read, and what comes next by itself. */
import type { ActionRecord, Attempt, OrderState } from '../../contract/state.ts';
import type { Instant } from '../../contract/words.ts';
import { allDeadlines } from '../../orders/deadlines.ts';
import { describeDeadline } from '../../orders/describe.ts';
import type { InspectedOrder } from '../../starter.ts';

export interface Checks {
  last?: { at: Instant; source: string; answered: boolean };
  next?: { at: Instant; source: string };
}

/** The poll's readings stand in the order's state only when they are news, so both are looked at. */
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

/** Orders things by their moment, the earliest first. */
function byTime(a: { at: Instant }, b: { at: Instant }): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}

/** The deadlines at which the service is asked, as a check's source. */
const READS: Readonly<Record<string, string>> = {
  recheck: 'recheck',
  rescreen: 'rescreen',
  'hint-spacing': 'webhook',
};

export interface Happening {
  at: Instant;
  words: string;
}

/** @returns everything that is on record, the oldest first */
export function timelineOf({ summary, state, poll }: InspectedOrder): Happening[] {
  const found: Happening[] = [];
  const add = (at: Instant | undefined, words: string): void => {
    if (at !== undefined) found.push({ at, words });
  };
  if (state === undefined) add(summary.startedAt, 'The order’s workflow was started');
  else addState(state, add);
  if (poll?.lastAt !== undefined) {
    add(poll.lastAt, poll.answered ? 'Polled: nothing has changed' : 'Polled: the service did not answer');
  }
  add(summary.closedAt, 'Closed');
  return found.sort(byTime);
}

/** @returns what follows by itself, the nearest first */
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
  add(state.startedAt, 'The order came');
  for (const attempt of state.attempts) addAttempt(attempt, add);
  for (const action of state.actions) addAction(action, add);
  for (const { since, words } of state.attention) add(since, `Needs attention: ${words}`);
  const { lastRead } = state;
  const recorded = state.attempts.some(({ readings }) => readings.some(({ at }) => at === lastRead?.at));
  if (!recorded) add(lastRead?.at, `Read from the service: ${state.decision} (${lastRead?.source})`);
  add(state.phaseSince, `Phase ${state.phase}, action ${state.action}`);
}

function addAttempt({ number, startedAt, readings, gateway, ...attempt }: Attempt, add: Add): void {
  if (number > 1) add(startedAt, `Attempt ${number} came`);
  for (const { at, decision, source } of readings) add(at, `Decision ${decision} (${source})`);
  if (gateway !== undefined) {
    add(gateway.at, `The payment gateway said ${gateway.result}`);
    for (const { result, at } of gateway.contradictions ?? []) {
      add(at, `The payment gateway said ${result}, which contradicts ${gateway.result}`);
    }
    if (gateway.sent !== 'recorded') add(gateway.sent, 'The gateway’s result was sent to the service');
  }
  add(attempt.declinedAt, 'Declined: another attempt may come');
}

function addAction({ kind, status, by, because, ...action }: ActionRecord, add: Add): void {
  const who = by === 'policy' ? 'by the policy' : 'by a caller';
  add(action.requestedAt, `Asked ${who}: ${kind}${because ? ` (${because})` : ''}`);
  const echo = Object.entries(action.chargeback ?? {}).map(([name, value]) => `${name} ${value}`);
  const said = [[action.code, action.message].filter(Boolean).join(' '), ...echo].filter(Boolean).join(', ');
  add(action.finishedAt, `${kind}: ${status}${said ? ` (${said})` : ''}`);
}
