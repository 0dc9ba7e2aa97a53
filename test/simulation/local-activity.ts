/** An activity that runs inside the workflow task: it is recorded with the task, or run again. */
import type { Call } from '../../src/orders/activity-contract.ts';
import type { End } from '../../src/orders/order.ts';
import { Process } from './process.ts';
import { mixed } from './random.ts';
import { firstScreening } from './screening-tries.ts';
import { look } from './status-tries.ts';
import type { Context, Try, TryEnd } from './tries.ts';
import type { World } from './world.ts';

export class LocalActivity {
  readonly number: number;
  readonly call: Call;
  readonly #world: World;
  #process: Process<TryEnd> | undefined;
  runs = false;

  constructor(world: World, number: number, call: Call) {
    this.#world = world;
    this.number = number;
    this.call = call;
  }

  /** @param again a task that ran it before may have been lost */
  run(runId: string, begunAt: number, again: boolean, onEnd: (end: End) => void): void {
    this.runs = true;
    const { agenda, life, receiver, stash, liberties, wire } = this.#world;
    const context: Context = {
      life,
      agenda,
      receiver,
      stash,
      runId,
      attempt: 1,
      scheduledAt: begunAt,
      startedAt: agenda.now,
      skewMs: liberties.skewMs,
      afterReset: this.call.kind === 'first-screening' && this.call.request.wasReset,
      breaksDown: liberties.breaksDown,
      told: undefined,
      tellNext: () => undefined,
      askedToStop: () => false,
      chance: () => mixed(life.seed, this.number) / 2 ** 32,
    };
    // A task goes on in a turn of its own.
    this.#process = new Process<TryEnd>(agenda, wire, this.#code(context, again), (tried) => {
      if (!('end' in tried)) throw new TypeError('a local activity is tried once');
      const { end } = tried;
      agenda.at(agenda.now, () => {
        if (this.#process?.heard) onEnd(end);
      });
    });
  }

  /** Its task is lost. @param dies and so is its worker */
  lose(dies: boolean): void {
    if (dies) this.#process?.die();
    this.#process?.forget();
  }

  #code(context: Context, again: boolean): Try {
    const { call } = this;
    if (call.kind === 'first-screening') return firstScreening(context, call.request, again);
    if (call.kind === 'look') return look(context, call.request);
    throw new TypeError(`${call.kind} is no local activity`);
  }
}
