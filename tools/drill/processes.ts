/** A process of a drill's stack, and the lines that it logs. */
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGuardedChild } from '../../src/dev/guarded-child.ts';
import { type LogLine, readLine } from './log-lines.ts';

export interface LoggingProcess {
  /** Everything that it has logged so far, in order. */
  readonly lines: readonly LogLine[];
  /** Lets it finish what runs, then ends it. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  /** What its lines are shown under. */
  name: string;
  script: string;
  env: NodeJS.ProcessEnv;
  logFile: string;
  /** Words of the line by which it says that it can be used. */
  readyWhen: RegExp;
  /** Called with each line, a moment after it was written. */
  onLine: (line: LogLine) => void;
}

const READY_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 50;
const STOP_WITHIN_MS = 20_000;

/**
 * Starts a script of the project, which logs to a file and ends with this process, and waits until it can be used.
 * @throws Error with its last lines when it ends before, or isn't ready within two minutes
 */
export async function startProcess(options: ProcessOptions): Promise<LoggingProcess> {
  const { name, script, env, logFile, readyWhen, onLine } = options;
  const output = openSync(logFile, 'a');
  const child = await startGuardedChild(
    process.execPath,
    ['--import', './bin/typescript.mjs', script],
    output,
    env,
  ).finally(() => closeSync(output));
  const lines: LogLine[] = [];
  let ended = false;
  const end = child.ended.then(() => {
    ended = true;
  });
  const reading = follow(
    logFile,
    (text) => {
      const line = readLine(name, text, Date.now());
      lines.push(line);
      onLine(line);
    },
    () => ended,
  );
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await end.finally(() => clearTimeout(timer));
    await reading;
  };
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!lines.some(({ text }) => readyWhen.test(text))) {
    if (ended || Date.now() > deadline) {
      await stop();
      const last = lines.slice(-5).map(({ text }) => text);
      throw new Error(`The ${name} did not start. Its log ends with:\n${last.join('\n')}`);
    }
    await sleep(LOOK_EVERY_MS);
  }
  return { lines, stop };
}

/** Reads what is added to a file, line by line, until its writer has ended and all is read. */
async function follow(file: string, onLine: (text: string) => void, ended: () => boolean): Promise<void> {
  const handle = await open(file, 'r');
  try {
    let begun = '';
    for (;;) {
      const last = ended();
      // Reads on from where the last reading ended.
      const added = await handle.readFile('utf8');
      const lines = (begun + added).split('\n');
      begun = lines.pop() ?? '';
      for (const line of lines) onLine(line);
      if (last && added === '') return;
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    await handle.close();
  }
}
