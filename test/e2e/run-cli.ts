import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface CliRun {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output, which must be one JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: what the command answers is what the tests look into
  json: () => any;
  /** Standard error, which must be one JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  problem: () => any;
}

/** A command under way. */
export interface RunningCli {
  /** As `| head` does it. */
  readNoMore: () => void;
  done: Promise<CliRun>;
}

/** Starts `order-screening` as a process of its own, as `npx order-screening` does, without a terminal. */
export function startCli(
  args: readonly string[],
  env: Record<string, string | undefined>,
  stdin = '',
): RunningCli {
  const child = spawn(process.execPath, ['bin/order-screening.mjs', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'pipe',
  });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    written += part;
  });
  child.stdin.on('error', () => undefined).end(stdin);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  const done = Promise.all([ended, text(child.stderr)]).then(([code, stderr]) => ({
    code,
    stdout: written,
    stderr,
    json: () => JSON.parse(written),
    problem: () => JSON.parse(stderr),
  }));
  return {
    readNoMore: () => child.stdout.destroy(),
    done,
  };
}

/** Runs a command to its end. */
export function runCli(
  args: readonly string[],
  env: Record<string, string | undefined>,
  stdin = '',
): Promise<CliRun> {
  return startCli(args, env, stdin).done;
}
