/** Whether a dotted version is as new as another; a pre-release suffix (`1.27rc1`) counts as its release. */
export function isAtLeast(found: string, needed: string): boolean {
  const numbers = (version: string) => version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  const [have, want] = [numbers(found), numbers(needed)];
  for (let index = 0; index < Math.max(have.length, want.length); index += 1) {
    const difference = (have[index] ?? 0) - (want[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
