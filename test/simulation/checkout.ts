/** The checkout's activity, which runs inside the workflow task: it is recorded with the task, or run again. */
import type { CheckedOut, CheckoutRequest, RunFacts } from '../../src/contract/activity-contract.ts';
import { Process } from './process.ts';
import { runTry } from './run-try.ts';
import type { World } from './world.ts';

/** While it runs, its workflow task is heartbeaten. */
const HEARTBEAT_MS = 2_500;

export class Checkout {
  readonly #process: Process;
  #isOver = false;

  /** @param onEnd hears the result; undefined: it failed. @param onBeat hears that its task is heartbeaten */
  constructor(
    world: World,
    request: CheckoutRequest,
    facts: RunFacts,
    begunAt: number,
    onEnd: (result: CheckedOut | undefined) => void,
    onBeat: () => void,
  ) {
    const { agenda } = world;
    const process = new Process(agenda);
    process.breaksDown = world.liberties.breaksDown;
    this.#process = process;
    const info = {
      isLocal: true,
      workflowExecution: { workflowId: 'order', runId: facts.runId },
      scheduledTimestampMs: 0,
      currentAttemptScheduledTimestampMs: begunAt,
    };
    const run = () => world.activities.screenAtCheckout(request, facts);
    const ignore = (): void => undefined;
    runTry(world, process, run, info, ignore, (tried) => {
      // A task goes on in a turn of its own.
      agenda.at(agenda.now, () => {
        if (!process.heard) return;
        this.#isOver = true;
        onEnd('result' in tried ? tried.result : undefined);
      });
    });
    const beat = (): void => {
      if (this.#isOver) return;
      onBeat();
      agenda.at(agenda.now + HEARTBEAT_MS, beat);
    };
    agenda.at(agenda.now + HEARTBEAT_MS, beat);
  }

  /** Its task is lost. @param dies and so is its worker */
  lose(dies: boolean): void {
    this.#isOver = true;
    if (dies) this.#process.die();
    this.#process.forget();
  }
}
