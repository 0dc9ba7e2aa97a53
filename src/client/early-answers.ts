/** Where the worker tells the client in the same process how a checkout's screening ended, before that is recorded. */
import type { CheckoutRequest, FirstScreening } from '../orders/activity-contract.ts';

/** How a screening ended, and what it was called with. */
export interface EndedScreening {
  request: CheckoutRequest;
  /** Absent when it failed. */
  first?: FirstScreening;
}

/** Listens for the screening of an order that is about to be started. */
export interface ScreeningListener {
  /** @returns how the screening of that run ended, once it has */
  of(runId: string): Promise<EndedScreening>;
  close(): void;
}

type Listener = (runId: string, ended: EndedScreening) => void;

/** One for a process; given to its worker as `beforeRecord` and to its client as `earlyAnswers`. */
export class EarlyAnswers {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Tells whoever listens. */
  tell(
    { workflowId, runId }: { workflowId: string; runId: string },
    request: CheckoutRequest,
    first: FirstScreening | undefined,
  ): void {
    const ended = { request, ...(first !== undefined && { first }) };
    for (const listener of this.#listeners.get(workflowId) ?? []) listener(runId, ended);
  }

  /** Listens from now on: the screening may end before the one who started the order knows its run. */
  listen(workflowId: string): ScreeningListener {
    const heard = new Map<string, EndedScreening>();
    let awaited: { runId: string; resolve: (ended: EndedScreening) => void } | undefined;
    const listener: Listener = (runId, ended) => {
      heard.set(runId, ended);
      if (awaited?.runId === runId) awaited.resolve(ended);
    };
    const listeners = this.#listeners.get(workflowId) ?? new Set();
    this.#listeners.set(workflowId, listeners.add(listener));
    return {
      of: (runId) =>
        new Promise((resolve) => {
          const ended = heard.get(runId);
          if (ended === undefined) awaited = { runId, resolve };
          else resolve(ended);
        }),
      close: () => {
        listeners.delete(listener);
        if (listeners.size === 0) this.#listeners.delete(workflowId);
      },
    };
  }
}
