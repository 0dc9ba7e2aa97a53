/** Runs what the order wants done in the background, each job in a scope of its own. Design section 6, three strands. */
import { CancellationScope, isCancellation, log, sleep } from '@temporalio/workflow';
import type { StatusOutcome } from '../orders/apply-reading.ts';
import type { Job } from '../orders/jobs.ts';
import type { ScreeningOutcome } from '../orders/screening-outcome.ts';
import type { Attempt } from '../orders/state.ts';
import type { GatewayResult, Instant, ReadingSource } from '../orders/words.ts';
import type { GatewayOutcome, LookUpOutcome } from '../orders/world.ts';

/** What a job read, at some moment since it began. */
export interface FinishedRead {
  transactionId: string;
  since: Instant;
  outcome: StatusOutcome;
}

/** How a job ended. */
export type Finished =
  | { kind: 'catch-up'; attempt: Attempt; rescreen: boolean; outcome: ScreeningOutcome; since: Instant }
  | ({ kind: 'poll' } & FinishedRead)
  | ({ kind: 'read'; source: ReadingSource } & FinishedRead)
  | { kind: 'gateway'; attempt: Attempt; result: GatewayResult; outcome: GatewayOutcome }
  | { kind: 'look-up'; attempt: Attempt; outcome: LookUpOutcome }
  | { kind: 'forget-card'; attempt: Attempt };

/** An activity that fails for good is a fault of ours or a limit of the server's: not to be hammered. */
const AFTER_FAILURE = '5 minutes';

export class BackgroundJobs {
  readonly #finished: { key: string; how: Finished }[] = [];
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

  /** Whether a job has ended and nobody has looked at how. */
  get anyFinished(): boolean {
    return this.#finished.length > 0;
  }

  /** @returns how the job ended that ended first of those that nobody has looked at */
  take(): Finished | undefined {
    return this.#finished.shift()?.how;
  }

  /** Starts the wanted jobs that don't run, stops those that are no longer wanted. One whose end waits to be looked at is done. */
  keep(wanted: readonly Job[]): void {
    const keys = new Set(wanted.map((job) => job.key));
    for (const [key, { job, scope }] of this.#running) {
      if (keys.has(key)) continue;
      // A create that may be on its way is waited for. Any other is over at once: when exactly the server says so
      // is not in the history, so nothing may depend on it.
      if (job.kind !== 'catch-up') this.#running.delete(key);
      scope.cancel();
    }
    for (const job of wanted) {
      const done = this.#finished.some(({ key }) => key === job.key);
      if (!done && !this.#running.has(job.key) && !this.#mustWait(job)) this.#begin(job);
    }
  }

  /** A create waits for one that was stopped and may be on its way: begun beside it, it could not find what that makes. */
  #mustWait({ kind }: Job): boolean {
    return kind === 'catch-up' && [...this.#running.values()].some(({ job }) => job.kind === kind);
  }

  /** Whether a job of the kind runs, or has ended and nobody has looked at how. */
  busy(kind: Job['kind']): boolean {
    const running = [...this.#running.values()].some((one) => one.job.kind === kind);
    return running || this.#finished.some(({ how }) => how.kind === kind);
  }

  /** Whether no job runs, and none has ended unseen. */
  get idle(): boolean {
    return this.#running.size === 0 && !this.anyFinished;
  }

  /** Stops all jobs and waits until they have ended. */
  async stop(): Promise<void> {
    this.keep([]);
    await Promise.all([...this.#running.values()].map((one) => one.ended));
  }

  #begin(job: Job): void {
    const scope = new CancellationScope();
    const stands = (): boolean => this.#running.get(job.key)?.scope === scope;
    const ended = scope
      .run(() => this.#start(job))
      .then((how) => {
        if (stands()) this.#finished.push({ key: job.key, how });
      })
      .catch(async (error: unknown) => {
        if (isCancellation(error)) return;
        const about = { job: job.kind, orderAttempt: job.attempt.number };
        log.error('a background job failed', { ...about, error: String(error) });
        await scope
          .run(() => sleep(AFTER_FAILURE, { summary: `Try again: ${job.kind}` }))
          .catch(() => undefined);
      })
      .finally(() => {
        if (!stands()) return;
        this.#running.delete(job.key);
        this.#ended();
      });
    this.#running.set(job.key, { job, scope, ended });
  }
}
