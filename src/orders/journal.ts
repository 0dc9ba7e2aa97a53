/** The journal of an order: who did what. */
import { type By, type JournalEntry, REASON_LIMIT } from '../contract/words.ts';
import { lastOf } from './bounds.ts';
import type { Order, TakenIn } from './order.ts';

/** So many entries are kept, and so many bytes of them. */
const KEPT_ENTRIES = 200;
const KEPT_ENTRIES_BYTES = 100_000;

/** Writes into the order's journal what somebody did. It is part of the state: no event is spent on it. */
export function note(
  { state, now: at }: Order,
  { because, ...did }: NonNullable<TakenIn['entry']>,
  by: By | undefined,
): void {
  const { key, actor } = by ?? {};
  const entry: JournalEntry = {
    at,
    ...did,
    ...((key || actor) && { by: { ...(key && { key }), ...(actor && { actor }) } }),
    ...(because && { because: because.slice(0, REASON_LIMIT) }),
  };
  state.journal = lastOf([...(state.journal ?? []), entry], KEPT_ENTRIES, KEPT_ENTRIES_BYTES);
}
