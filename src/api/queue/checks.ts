/** When an order's decision was last read from the service, by whom, and when it is read next. */
import { allDeadlines } from '../../orders/deadlines.ts';
import type { Instant } from '../../orders/words.ts';
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
export function byTime(a: { at: Instant }, b: { at: Instant }): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}

/** The deadlines at which the service is asked, as a check's source. */
const READS: Readonly<Record<string, string>> = {
  recheck: 'recheck',
  rescreen: 'rescreen',
  'hint-spacing': 'webhook',
};
