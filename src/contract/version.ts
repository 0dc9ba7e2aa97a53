/**
 * Versions of the workflow code. The starter writes a version into the order's input, so that it costs no event. Workers are deployed before
 * starters: a worker runs its own version and the one before, and code that differs branches on `order.version`.
 */

/** The version that starters write. */
export const VERSION = 1;
/** The oldest version that a worker runs; that of an order started without one. */
export const OLDEST_VERSION = 1;

/** @returns whether this release runs orders of that version */
export function isSupported(version: number): boolean {
  return version >= OLDEST_VERSION && version <= VERSION;
}
