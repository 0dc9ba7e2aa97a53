/** The checkout's activity, which runs inside the workflow task: it is recorded with the task, or run again. */
import type { CheckedOut, CheckoutRequest, RunFacts } from '../../../src/contract/activity-contract.ts';
import { Process } from '../network/process.ts';
import type { World } from '../world.ts';
import { runTry } from './run-try.ts';

/** While it runs, its workflow task is heartbeaten. */
const HEARTBEAT_MS = 2_500;

export class Checkout {
  readonly request: CheckoutRequest;
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
    this.request = request;
    const process = new Process(world.agenda, () => world.noteCode());
    process.breaksDown = world.liberties.breaksDown;
    this.#process = process;
    const info = { runId: facts.runId, attempt: 1, scheduledAt: begunAt, told: undefined, isLocal: true };
    const run = () => world.activities.screenAtCheckout(request, facts);
    runTry(
      world,
      process,
      run,
      info,
      () => undefined,
      (tried) => {
        const result = 'result' in tried ? tried.result : undefined;
        // A task goes on in a turn of its own.
        world.agenda.at(world.agenda.now, () => {
          if (!process.heard) return;
          this.#isOver = true;
          onEnd(result);
        });
      },
    );
    const beat = (): void => {
      if (this.#isOver) return;
      onBeat();
      world.agenda.at(world.agenda.now + HEARTBEAT_MS, beat);
    };
    world.agenda.at(world.agenda.now + HEARTBEAT_MS, beat);
  }

  /** Its task is lost. @param dies and so is its worker */
  lose(dies: boolean): void {
    this.#isOver = true;
    if (dies) this.#process.die();
    this.#process.forget();
  }
}
