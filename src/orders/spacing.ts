/** The spacing between the reads that hints and rechecks cause: it grows under a flood. In milliseconds. */
export const FIRST_SPACING_MS = 2_000;
const LONGEST_SPACING_MS = 5 * 60_000;

/** @returns the spacing after one in which more came */
export function longerSpacing(ms: number): number {
  return Math.min(ms * 2, LONGEST_SPACING_MS);
}
