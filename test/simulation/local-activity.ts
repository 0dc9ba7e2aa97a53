/** An activity that runs inside the workflow task: it is recorded with the task, or run again. */
import type { Call } from '../../src/orders/activity-contract.ts';
import type { End } from '../../src/orders/order.ts';
import { instant } from '../../src/orders/words.ts';
import { endOfFailure } from '../../src/workflows/perform.ts';
import { Process } from './process.ts';
import { runTry } from './run-try.ts';
import type { World } from './world.ts';

export class LocalActivity {
  readonly number: number;
  readonly call: Extract<Call, { kind: 'first-screening' | 'look' }>;
  readonly #world: World;
  #process: Process | undefined;
  runs = false;

  constructor(world: World, number: number, call: Call) {
    if (call.kind !== 'first-screening' && call.kind !== 'look') {
      throw new TypeError(`${call.kind} is no local activity`);
    }
    this.#world = world;
    this.number = number;
    this.call = call;
  }

  /** @param mayHaveRun a task that ran it before may have been lost */
  run(runId: string, begunAt: number, mayHaveRun: boolean, onEnd: (end: End) => void): void {
    this.runs = true;
    const world = this.#world;
    const process = new Process(world.agenda, () => world.noteCode());
    process.breaksDown = world.liberties.breaksDown && this.call.kind === 'first-screening';
    this.#process = process;
    const facts = { runId, now: instant(begunAt), mayHaveRun };
    const info = { runId, attempt: 1, scheduledAt: begunAt, told: undefined, isLocal: true };
    runTry(
      world,
      process,
      this.call,
      facts,
      info,
      () => undefined,
      (tried) => {
        const end: End =
          'result' in tried ? { how: 'done', result: tried.result } : endOfFailure(tried.failure);
        // A task goes on in a turn of its own.
        world.agenda.at(world.agenda.now, () => process.heard && onEnd(end));
      },
    );
  }

  /** Its task is lost. @param dies and so is its worker */
  lose(dies: boolean): void {
    if (dies) this.#process?.die();
    this.#process?.forget();
  }
}
