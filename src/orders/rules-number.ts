/**
 * Which version of the rules an order lives by. It is part of the order's first answer, so it costs no event, and `step` and
 * `wanted` branch on it. A release reads a number one release before it writes it: then going back one release is always possible.
 */

/** The numbers that this release can live by. */
export const RULES_READ: readonly number[] = [1];

/** The number that a new order gets. */
export const RULES_WRITTEN = 1;
