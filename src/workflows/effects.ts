/** The effects that an order runs: activities and timers, started and stopped in the order in which the kernel names them. */
import { ActivityFailure, CancellationScope, isCancellation, log, upsertMemo } from '@temporalio/workflow';
import type { RunFacts } from '../contract/activity-contract.ts';
import type { Command, Input, Outcome, Running } from '../orders/order.ts';
import { perform } from './activities.ts';
import { isEndedByHand } from './perform.ts';

export class Effects {
  readonly #inputs: Input[];
  readonly #facts: () => RunFacts;
  readonly #scopes = new Map<number, CancellationScope>();

  /**
   * @param inputs gets the outcome of each effect
   * @param facts returns what activities are told of this run
   */
  constructor(inputs: Input[], facts: () => RunFacts) {
    this.#inputs = inputs;
    this.#facts = facts;
  }

  /** Carries the commands out. */
  carryOut(commands: readonly Command[]): void {
    for (const command of commands) {
      switch (command.do) {
        case 'start':
          this.#start(command.running);
          break;
        case 'cancel':
          this.#scopes.get(command.id)?.cancel();
          break;
        case 'drop':
          this.#drop(command.id);
          break;
        case 'count-signals':
          upsertMemo({ signals: command.signals });
      }
    }
  }

  #start({ id, effect: { call } }: Running): void {
    const scope = new CancellationScope();
    this.#scopes.set(id, scope);
    scope
      .run(() => perform(call, this.#facts()))
      .then(
        (result) => this.#ended(id, { status: 'completed', result }),
        (error: unknown) => this.#ended(id, outcomeOf(error, call.kind)),
      );
  }

  /** The outcome of a dropped effect is ignored: the history does not say in which task it would have been known. */
  #drop(id: number): void {
    this.#scopes.get(id)?.cancel();
    this.#scopes.delete(id);
  }

  #ended(id: number, outcome: Outcome): void {
    if (this.#scopes.delete(id)) this.#inputs.push({ kind: 'effect-ended', id, outcome });
  }
}

function outcomeOf(error: unknown, effect: string): Outcome {
  if (isCancellation(error)) return { status: 'canceled' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  log.error('an activity failed for good', { effect, error: String(cause) });
  return { status: 'failed', ...(isEndedByHand(cause) && { byHand: true }) };
}
