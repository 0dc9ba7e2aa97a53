/** The journal of an order: who did what. */
import { type By, type JournalEntry, NOTE_LIMIT, REASON_LIMIT } from '../contract/words.ts';
import { lastOf } from './bounds.ts';
import type { Accepted, Order } from './order.ts';

/** The maximum number of entries, and their maximum bytes. */
const KEPT_ENTRIES = 200;
const KEPT_ENTRIES_BYTES = 100_000;

/**
 * Adds a person's action to the order's journal, a request about a portal action once per person: a caller may repeat it every few seconds.
 * The journal is part of the state, so it costs no history event.
 */
export function note(
  { state, now: at }: Order,
  { because, ...did }: NonNullable<Accepted['entry']>,
  by: By | undefined,
): void {
  const { key, actor } = by ?? {};
  const { journal = [] } = state;
  const isSame = ({ what, number, by: one }: JournalEntry) =>
    what === did.what && number === did.number && one?.key === key && one?.actor === actor;
  if (did.number !== undefined && journal.some(isSame)) return;
  const limit = did.what === 'note' ? NOTE_LIMIT : REASON_LIMIT;
  const entry: JournalEntry = {
    at,
    ...did,
    ...((key || actor) && { by: { ...(key && { key }), ...(actor && { actor }) } }),
    ...(because && { because: because.slice(0, limit) }),
  };
  state.journal = lastOf([...journal, entry], KEPT_ENTRIES, KEPT_ENTRIES_BYTES);
}
