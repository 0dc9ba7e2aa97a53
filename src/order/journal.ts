/** The journal of an order: who did what. */
import { type By, type JournalEntry, NOTE_LIMIT, REASON_LIMIT } from '../contract/words.ts';
import { lastOf } from './bounds.ts';
import type { Accepted, Order } from './order.ts';

/** The maximum number of entries, and their maximum bytes. */
const KEPT_ENTRIES = 200;
const KEPT_ENTRIES_BYTES = 100_000;

/** Adds a person's action to the order's journal. The journal is part of the state, so it costs no history event. */
export function note(
  { state, now: at }: Order,
  { because, ...did }: NonNullable<Accepted['entry']>,
  by: By | undefined,
): void {
  const { key, actor } = by ?? {};
  const limit = did.what === 'note' ? NOTE_LIMIT : REASON_LIMIT;
  const entry: JournalEntry = {
    at,
    ...did,
    ...((key || actor) && { by: { ...(key && { key }), ...(actor && { actor }) } }),
    ...(because && { because: because.slice(0, limit) }),
  };
  state.journal = lastOf([...(state.journal ?? []), entry], KEPT_ENTRIES, KEPT_ENTRIES_BYTES);
}

/** Returns whether the journal has this person's request about the portal action. A caller may repeat it every few seconds. */
export function hasAsked(
  { state }: Order,
  { what, number }: Pick<JournalEntry, 'what' | 'number'>,
  by: By | undefined,
): boolean {
  return (state.journal ?? []).some(
    (one) =>
      one.what === what && one.number === number && one.by?.key === by?.key && one.by?.actor === by?.actor,
  );
}
