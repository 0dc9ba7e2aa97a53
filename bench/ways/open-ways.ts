import type { Stack } from '../stack/stack.ts';
import type { Way, WayKind } from './way.ts';

/** Ways by their kind, all open on one stack. */
export interface OpenWays {
  entries: readonly (readonly [WayKind, Way])[];
  stop: () => Promise<void>;
}

/** Opens all of them. @throws the first error, with none left open */
export async function openWays(
  stack: Stack,
  kinds: readonly WayKind[],
  nodeArgs: string[],
): Promise<OpenWays> {
  const opened = await Promise.allSettled(
    kinds.map(async (kind) => [kind, await kind.open(stack, nodeArgs)] as const),
  );
  const entries = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const stop = async () => {
    await Promise.all(entries.map(([, way]) => way.stop()));
  };
  const failed = opened.find((one) => one.status === 'rejected');
  if (failed === undefined) return { entries, stop };
  await stop();
  throw failed.reason;
}

/** @returns the entries in an order of their own for each round, so that none always follows the same other */
export function turned<T>(entries: readonly T[], round: number): T[] {
  const from = entries.length === 0 ? 0 : round % entries.length;
  return [...entries.slice(from), ...entries.slice(0, from)];
}
