/** A workflow for `order-of-results.test.ts`. It fails with the outcomes of its effects, in the order in which they arrived. */
import { condition } from '@temporalio/workflow';
import type { Call } from '../../../src/contract/calls.ts';
import type { Input } from '../../../src/order/order.ts';
import { effectsInto } from '../../../src/workflows/activities.ts';

const since = '2026-03-01T10:00:00.000Z';

export async function orderOfResults(calls: Call[]): Promise<void> {
  const inputs: Input[] = [];
  const run = { runId: 'run', wasReset: false, historyLength: 3, isReplaying: false };
  effectsInto(
    inputs,
    () => run,
  )(
    calls.map((call, id) => {
      const known = { concern: 'reads', whenObsolete: 'drop', forbiddenKnown: false } as const;
      const effect = { key: `${id}`, call, ...known };
      return { do: 'start', running: { id, effect, since } };
    }),
  );
  await condition(() => inputs.length === calls.length);
  throw new Error(inputs.map(inWords).join());
}

function inWords(input: Input): string {
  if (input.kind !== 'effect-ended') return input.kind;
  const { id, outcome } = input;
  return `${id} ${outcome.status}${'byHand' in outcome ? ' by hand' : ''}`;
}
