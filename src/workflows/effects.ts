/** Runs an order's effects: starts and stops activities and timers in the order of the kernel's commands. */
import { ActivityFailure, CancellationScope, isCancellation, log } from '@temporalio/workflow';
import type { RunFacts } from '../contract/activity-contract.ts';
import type { Call } from '../contract/calls.ts';
import type { Command, Input, Outcome, Running } from '../order/order.ts';
import { resultOf, startCall } from './activities.ts';
import { isEndedByHand } from './perform.ts';

export class Effects {
  readonly #inputs: Input[];
  readonly #facts: () => RunFacts;
  readonly #scopes = new Map<number, CancellationScope>();

  /**
   * @param inputs receives the outcome of each effect
   * @param facts returns the facts about this run that activities receive
   */
  constructor(inputs: Input[], facts: () => RunFacts) {
    this.#inputs = inputs;
    this.#facts = facts;
  }

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
      }
    }
  }

  #start({ id, effect: { call } }: Running): void {
    const scope = new CancellationScope();
    this.#scopes.set(id, scope);
    scope
      .run(() => startCall(call, this.#facts()))
      .then(
        (result) => this.#ended(id, outcomeOf(call, result)),
        (error: unknown) => this.#ended(id, failureOf(error, call.kind)),
      );
  }

  /** Ignores the outcome of a dropped effect, since the history does not record in which task it would have arrived. */
  #drop(id: number): void {
    this.#scopes.get(id)?.cancel();
    this.#scopes.delete(id);
  }

  #ended(id: number, outcome: Outcome): void {
    if (this.#scopes.delete(id)) this.#inputs.push({ kind: 'effect-ended', id, outcome });
  }
}

function outcomeOf(call: Call, result: unknown): Outcome {
  try {
    return { status: 'completed', result: resultOf(call, result) };
  } catch (error) {
    return failureOf(error, call.kind);
  }
}

function failureOf(error: unknown, effect: string): Outcome {
  if (isCancellation(error)) return { status: 'canceled' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  log.error('an activity failed for good', { effect, error: String(cause) });
  return { status: 'failed', ...(isEndedByHand(cause) && { byHand: true }) };
}
