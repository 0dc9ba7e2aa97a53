/** The checkout's activity, which runs inside the workflow task: it is recorded with the task, or run again. */
import type { CheckedOut, CheckoutRequest, RunFacts } from '../../../src/contract/activity-contract.ts';
import { Process } from '../network/process.ts';
import type { World } from '../world.ts';
import { runTry } from './run-try.ts';

/** While it runs, its workflow task is heartbeaten. */
const HEARTBEAT_MS = 2_500;

/** Called when its task is lost, and with it the worker perhaps. */
export type Lose = (dies: boolean) => void;

/** @param onEnd hears the result; undefined: it failed. @param onBeat hears that its task is heartbeaten */
export function checkOut(
  world: World,
  request: CheckoutRequest,
  facts: RunFacts,
  begunAt: number,
  onEnd: (result: CheckedOut | undefined) => void,
  onBeat: () => void,
): Lose {
  const { agenda } = world;
  let isOver = false;
  const process = new Process(world);
  process.breaksDown = world.liberties.breaksDown;
  const { runId } = facts;
  const info = {
    runId,
    activityId: '',
    isLocal: true,
    scheduledTimestampMs: 0,
    currentAttemptScheduledTimestampMs: begunAt,
  };
  const run = () => world.activities.screenAtCheckout(request, facts);
  runTry(world, process, run, info, silent, (tried) => {
    // A task goes on in a turn of its own.
    agenda.at(agenda.now, () => {
      if (!process.heard) return;
      isOver = true;
      onEnd('result' in tried ? tried.result : undefined);
    });
  });
  const beat = (): void => {
    if (isOver) return;
    onBeat();
    agenda.at(agenda.now + HEARTBEAT_MS, beat);
  };
  agenda.at(agenda.now + HEARTBEAT_MS, beat);
  return (dies) => {
    isOver = true;
    if (dies) process.die();
    process.forget();
  };
}

const silent = (): void => undefined;
