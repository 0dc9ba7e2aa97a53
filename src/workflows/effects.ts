/** The only place that begins and stops what an order wants: activities and timers, in the order in which they are named. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  log,
} from '@temporalio/workflow';
import type { Call, Command } from '../orders/activity-contract.ts';
import { isOrderErrorCode, type OrderErrorCode, type OrderErrorDetails } from '../orders/errors.ts';
import type { End, Input } from '../orders/order.ts';
import { perform } from './activities.ts';

export class Effects {
  readonly #inbox: Input[];
  readonly #running = new Map<number, CancellationScope>();

  /** @param inbox gets how each effect ended */
  constructor(inbox: Input[]) {
    this.#inbox = inbox;
  }

  /** Carries the commands out. */
  carryOut(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.do === 'begin') this.#begin(command.number, command.call);
      else this.#stop(command.number, command.waits);
    }
  }

  #begin(number: number, call: Call): void {
    const scope = new CancellationScope();
    this.#running.set(number, scope);
    scope
      .run(() => perform(call))
      .then(
        (result) => this.#ended(number, { how: 'done', result }),
        (error: unknown) => this.#ended(number, endOf(error, call)),
      );
  }

  /** When exactly the server says that a stopped read is over isn't in the history, so that nobody waits for it. */
  #stop(number: number, waits: boolean): void {
    this.#running.get(number)?.cancel();
    if (!waits) this.#running.delete(number);
  }

  #ended(number: number, end: End): void {
    if (this.#running.delete(number)) this.#inbox.push({ kind: 'end', number, end });
  }
}

function endOf(error: unknown, { kind }: Call): End {
  if (isCancellation(error)) return { how: 'cut-off' };
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && isOrderErrorCode(cause.type)) {
    const [details] = cause.details ?? [];
    return { how: 'failed', refused: { ...detailsOf(details), code: cause.type, message: cause.message } };
  }
  log.error('an activity failed for good', { effect: kind, error: String(error) });
  return { how: 'failed' };
}

/** The details of our own failures are plain objects. */
function detailsOf(details: unknown): object {
  return typeof details === 'object' && details !== null ? details : {};
}

// Our errors as Temporal carries them: the code as the failure's type, what goes with it as its detail.

/** @returns a failure that fails the message or the workflow, never the workflow task */
export function failure(
  code: OrderErrorCode,
  message: string,
  details: OrderErrorDetails = {},
): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true, details: [details] });
}
