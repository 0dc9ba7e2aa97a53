/**
 * Versions of the workflow code. The starter writes the version into the order's input, which adds no event. Workers are deployed
 * before starters: a worker runs its own version and the previous one. Code that differs branches on `order.version`.
 */

/** The version that starters write into the input. */
export const VERSION = 1;
/** The oldest version that a worker runs, and the version of orders started without one. */
export const OLDEST_VERSION = 1;

export function isSupported(version: number): boolean {
  return version >= OLDEST_VERSION && version <= VERSION;
}
