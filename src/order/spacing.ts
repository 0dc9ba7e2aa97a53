/** The spacing between reads caused by hints and rechecks, in milliseconds. It grows under a flood. */
export const FIRST_SPACING_MS = 2_000;
export const LONGEST_SPACING_MS = 5 * 60_000;

/** @returns the spacing after one in which more hints or rechecks arrived */
export function longerSpacing(ms: number): number {
  return Math.min(ms * 2, LONGEST_SPACING_MS);
}
