import type { ReviewHint } from '../orders/messages.ts';

/** Delivers a hint to an order; whether there is such an open order. */
type Deliver = (hint: ReviewHint) => Promise<boolean>;

interface Waiting {
  hint: ReviewHint;
  delivered: Promise<boolean>;
}

/**
 * One hint an order on its way at a time, and one that waits: those that come meanwhile go together, after it. Temporal takes
 * ten updates of a workflow at once and has the others come back after a second or more.
 */
export class HintQueues {
  readonly #underWay = new Map<string, Promise<boolean>>();
  readonly #waiting = new Map<string, Waiting>();

  /** @returns what `deliver` says of the hint, or of several that went together */
  send(workflowId: string, hint: ReviewHint, deliver: Deliver): Promise<boolean> {
    const underWay = this.#underWay.get(workflowId);
    if (underWay === undefined) return this.#start(workflowId, hint, deliver);
    const waiting = this.#waiting.get(workflowId);
    if (waiting !== undefined) {
      waiting.hint = together(waiting.hint, hint);
      return waiting.delivered;
    }
    const next: Waiting = {
      hint,
      delivered: underWay
        .catch(() => undefined)
        .then(() => {
          this.#waiting.delete(workflowId);
          return this.#start(workflowId, next.hint, deliver);
        }),
    };
    this.#waiting.set(workflowId, next);
    return next.delivered;
  }

  #start(workflowId: string, hint: ReviewHint, deliver: Deliver): Promise<boolean> {
    const delivered = deliver(hint).finally(() => this.#underWay.delete(workflowId));
    this.#underWay.set(workflowId, delivered);
    return delivered;
  }
}

/** Nothing in a hint is believed: where two differ, the one for both leaves it out, and so concerns the order in any case. */
function together(one: ReviewHint, other: ReviewHint): ReviewHint {
  const { source, receivedAt, transactionId, decision } = other;
  return {
    source,
    receivedAt,
    ...(transactionId !== undefined && transactionId === one.transactionId && { transactionId }),
    ...(decision !== undefined && decision === one.decision && { decision }),
  };
}
