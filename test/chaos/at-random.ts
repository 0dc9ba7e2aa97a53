/** People who do something to orders at random moments. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderPlan } from './plan.ts';

/** Has several people act on orders at random, each one after the other. @returns what stops them */
export function atRandom(
  plans: readonly OrderPlan[],
  { people, mostPauseMs, signal }: { people: number; mostPauseMs: number; signal: AbortSignal },
  act: (plan: OrderPlan) => Promise<void>,
): () => Promise<void> {
  const stopped = new AbortController();
  const until = AbortSignal.any([signal, stopped.signal]);
  const person = async (): Promise<void> => {
    while (!until.aborted) {
      const plan = plans[randomInt(plans.length)];
      if (plan !== undefined) await act(plan);
      await sleep(randomInt(mostPauseMs), undefined, { signal: until }).catch(() => undefined);
    }
  };
  const acting = Promise.all(Array.from({ length: people }, person));
  return async () => {
    stopped.abort();
    await acting;
  };
}
