/** Restarts the processes of a run when they end, as a supervisor does, and notes each end. */
import { setTimeout as sleep } from 'node:timers/promises';

interface Running {
  kill(signal: NodeJS.Signals): void;
  ended: Promise<unknown>;
  stop(): Promise<unknown>;
  output?(): string;
}

/** A process that was killed, and when it was back; milliseconds after the epoch. */
export interface Outage {
  what: string;
  from: number;
  until?: number;
}

/** What happened to the processes of a run. */
export interface ProcessLog {
  outages: Outage[];
  /** How often a process was killed by which signal, or ended by itself. */
  ends: Map<string, number>;
  /** What the processes logged as a warning or worse, or outside their log. */
  complaints: string[];
  /** The run is over: nothing is restarted. */
  isOver: boolean;
}

/**
 * @param name of what is running now
 * @throws Error if the first start fails
 */
export async function supervise(name: () => string, start: () => Promise<Running>, log: ProcessLog) {
  let current: Running | undefined;
  const count = (what: string) => log.ends.set(what, (log.ends.get(what) ?? 0) + 1);
  const watch = (running: Running): void => {
    current = running;
    void running.ended.then(async () => {
      log.complaints.push(...complaintsIn(name(), running.output?.() ?? ''));
      if (log.isOver || current !== running) return;
      count(`${name()} ended by itself`);
      await restart();
    });
  };
  const restart = async (): Promise<void> => {
    while (!log.isOver) {
      try {
        return watch(await start());
      } catch (error) {
        log.complaints.push(`start failed: ${String(error).slice(0, 500)}`);
      }
    }
  };
  watch(await start());
  return {
    /** Kills it, and starts it again `awayMs` after its end. */
    kill: async (signal: NodeJS.Signals, awayMs = 0): Promise<void> => {
      const victim = current;
      if (victim === undefined || log.isOver) return;
      current = undefined;
      const outage: Outage = { what: name(), from: Date.now() };
      log.outages.push(outage);
      count(`${outage.what} ${signal}`);
      victim.kill(signal);
      await victim.ended;
      await sleep(awayMs);
      await restart();
      outage.until = Date.now();
    },
    stop: async () => current?.stop(),
  };
}

function complaintsIn(who: string, output: string): string[] {
  const lines = output.split('\n').filter((line) => line !== '' && !/^\{.*?"level":[123]0\b/.test(line));
  return lines.map((line) => `${who}: ${line.slice(0, 1_000)}`);
}
