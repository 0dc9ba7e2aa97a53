/** Runs what the order wants done in the background, each job in a scope of its own. Design section 6, three strands. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { StatusOutcome } from '../orders/apply-reading.ts';
import type { Job } from '../orders/jobs.ts';
import type { ScreeningOutcome } from '../orders/screening-outcome.ts';
import type { Instant } from '../orders/words.ts';
import type { GatewayOutcome, LookUpOutcome } from '../orders/world.ts';

/** How a job ended. */
export type Finished =
  | { kind: 'catch-up'; job: Job; outcome: ScreeningOutcome; since: Instant }
  | { kind: 'poll' | 'read'; job: Job; outcome: StatusOutcome }
  | { kind: 'gateway'; job: Job; attempt: number; outcome: GatewayOutcome }
  | { kind: 'look-up'; job: Job; attempt: number; outcome: LookUpOutcome }
  | { kind: 'forget-card'; job: Job; attempt: number };

export class BackgroundJobs {
  readonly finished: Finished[] = [];
  readonly #start: (job: Job) => Promise<Finished>;
  readonly #ended: () => void;
  readonly #running = new Map<string, { job: Job; scope: CancellationScope; ended: Promise<void> }>();

  /**
   * @param start begins a job; it is called in the job's own scope
   * @param ended is told whenever one has ended, however it did
   */
  constructor(start: (job: Job) => Promise<Finished>, ended: () => void) {
    this.#start = start;
    this.#ended = ended;
  }

  /** Starts the wanted jobs that don't run, stops those that are no longer wanted. */
  keep(wanted: readonly Job[]): void {
    const keys = new Set(wanted.map((job) => job.key));
    for (const [key, running] of this.#running) {
      if (!keys.has(key)) running.scope.cancel();
    }
    for (const job of wanted) {
      if (!this.#running.has(job.key)) this.#begin(job);
    }
  }

  /** Whether a job of the kind runs, or has ended and nobody has looked at how. */
  busy(kind: Job['kind']): boolean {
    const running = [...this.#running.values()].some((one) => one.job.kind === kind);
    return running || this.finished.some((one) => one.kind === kind);
  }

  /** Whether any job runs. */
  get idle(): boolean {
    return this.#running.size === 0 && this.finished.length === 0;
  }

  /** Stops all jobs and waits until they have ended. */
  async stop(): Promise<void> {
    this.keep([]);
    await Promise.all([...this.#running.values()].map((one) => one.ended));
  }

  #begin(job: Job): void {
    const scope = new CancellationScope();
    const ended = scope
      .run(() => this.#start(job))
      .then((finished) => {
        this.finished.push(finished);
      })
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
      })
      .finally(() => {
        this.#running.delete(job.key);
        this.#ended();
      });
    this.#running.set(job.key, { job, scope, ended });
  }
}
