import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TYPESCRIPT = new URL('../../../bin/typescript.mjs', import.meta.url).href;

/** A running script. */
export interface SpawnedProcess {
  pid: number;
  /** Everything it has written so far, standard output and error together. */
  output(): string;
  /** Sends a signal; SIGKILL is a crash. One that has ended is left alone. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves when it has ended, with its exit code or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
  /** SIGTERM, after 10 s SIGKILL; resolves when it has ended. */
  stop(): Promise<number | NodeJS.Signals>;
}

export interface SpawnOptions {
  /** Added to this process's environment; `undefined` removes a variable. */
  env?: NodeJS.ProcessEnv;
  args?: string[];
  /** Options of Node itself, after `--import ./bin/typescript.mjs`. */
  nodeArgs?: string[];
  /** The project's folder unless given. */
  cwd?: string;
  /** The user that it runs as; only root can choose. */
  uid?: number;
  /** What it writes when it can be used; without it the process counts as ready at once. */
  readyWhen?: RegExp;
  readyWithinMs?: number;
}

const living = new Set<SpawnedProcess>();
process.once('exit', () => {
  for (const one of living) one.kill('SIGKILL');
});

/**
 * Starts a TypeScript file of the project as a process of its own, `node --import ./bin/typescript.mjs <script>`, and waits until it
 * says that it is ready. It is killed at the end of this process at the latest; see also `spawnForTest`.
 *
 * @param script path from the project's root
 * @throws Error with the process's output when it ends, or isn’t ready in time (a minute unless given)
 */
export async function spawnProcess(script: string, options: SpawnOptions = {}): Promise<SpawnedProcess> {
  const { env = {}, args = [], nodeArgs = [], cwd = ROOT, uid, readyWhen, readyWithinMs = 60_000 } = options;
  const child = spawn(process.execPath, ['--import', TYPESCRIPT, ...nodeArgs, script, ...args], {
    cwd,
    ...(uid !== undefined && { uid }),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const take = (text: string) => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);

  let how: number | NodeJS.Signals | undefined;
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => {
      how = code ?? signal ?? -1;
      resolve(how);
    });
  });
  const spawned: SpawnedProcess = {
    pid: child.pid ?? -1,
    output: () => output,
    kill: (signal) => void child.kill(signal),
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      return ended.finally(() => clearTimeout(timer));
    },
  };
  living.add(spawned);
  void ended.then(() => living.delete(spawned));

  const until = Date.now() + readyWithinMs;
  while (readyWhen !== undefined && !readyWhen.test(output)) {
    if (how === undefined && Date.now() < until) {
      await sleep(10);
      continue;
    }
    child.kill('SIGKILL');
    const why =
      how === undefined
        ? `was not ready within ${readyWithinMs} ms`
        : `ended with ${how} before it was ready`;
    throw new Error(`${script} ${why}; it wrote:\n${output}`);
  }
  return spawned;
}
