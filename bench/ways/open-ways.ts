import type { Stack } from '../stack/stack.ts';
import type { Way, WayKind } from './way.ts';

/** Ways by their kind, all open on one stack. */
export interface OpenWays {
  entries: readonly (readonly [WayKind, Way])[];
  stop: () => Promise<void>;
}

/** Opens all of them, one after another. */
export async function openWays(
  stack: Stack,
  kinds: readonly WayKind[],
  nodeArgs: string[],
): Promise<OpenWays> {
  const entries: [WayKind, Way][] = [];
  const stop = async () => {
    await Promise.all(entries.map(([, way]) => way.stop()));
  };
  try {
    for (const kind of kinds) entries.push([kind, await kind.open(stack, nodeArgs)]);
    return { entries, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @returns the entries in an order of their own for each round, so that none always follows the same other */
export function turned<T>(entries: readonly T[], round: number): T[] {
  const from = entries.length === 0 ? 0 : round % entries.length;
  return [...entries.slice(from), ...entries.slice(0, from)];
}
