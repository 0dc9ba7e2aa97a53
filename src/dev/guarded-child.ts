/** Child processes that don't outlive their parent, commands, and ports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { errorCode } from '../config/values.ts';

/** A child process, in a process group of its own, that is stopped when its parent is gone. */
export interface GuardedChild {
  pid: number;
  /** Sends a signal to the child (and its guard). A child that has ended is left alone. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the child has ended, with how in words. */
  ended: Promise<string>;
}

// The guard reads a pipe that only the parent holds open: it ends when the parent does, also by SIGKILL, which no
// handler in the parent could see. A group of its own keeps Ctrl-C in the terminal from stopping the child before
// the parent has finished its work with it. A server waits for its connections, an idle one too, so after 5 s it is killed.
const GUARD = `
trap : TERM INT
"$@" 3<&- &
child=$!
(
  while read -r _; do :; done
  kill "$child"
  for _ in 1 2 3 4 5; do
    sleep 1
    kill -0 "$child" || exit
  done
  kill -KILL "$child"
) <&3 3<&- >/dev/null 2>&1 &
guard=$!
exec 3<&-
while :; do
  wait "$child"
  code=$?
  kill -0 "$child" 2>/dev/null || break
done
kill "$guard" 2>/dev/null
exit "$code"
`;

/**
 * Starts a program that dies with this process, however this process ends (on Windows: only when it is asked to).
 *
 * @param output a file descriptor that takes the child's standard output and error
 * @param env its environment, this process's unless given
 * @throws Error when the program can't be started
 */
export async function startGuardedChild(
  command: string,
  args: readonly string[],
  output: number | 'ignore',
  env: NodeJS.ProcessEnv = process.env,
): Promise<GuardedChild> {
  const guarded = process.platform !== 'win32';
  const child = guarded
    ? spawn('sh', ['-c', GUARD, 'sh', command, ...args], {
        detached: true,
        env,
        stdio: ['ignore', output, output, 'pipe'],
      })
    : spawn(command, args, { env, stdio: ['ignore', output, output] });
  const { pid } = child;
  if (pid === undefined) {
    const error = await new Promise<Error>((resolve) => child.once('error', resolve));
    throw new Error(`${command} could not be started: ${error.message}`);
  }
  return { pid, ended: endOf(child), kill: (signal) => signalGroup(child, guarded ? -pid : pid, signal) };
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      child.stdio[3]?.destroy();
      resolve(signal === null ? `exit code ${code}` : signal);
    });
  });
}

function signalGroup(child: ChildProcess, target: number, signal: NodeJS.Signals): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(target, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** How a command ended. `output` is its standard output, `errors` its standard error, both cut to the last 64 KiB. */
export interface CommandResult {
  ok: boolean;
  output: string;
  errors: string;
  /** In words, why it isn't `ok`: not found, timed out, or its exit code. Empty when it is. */
  reason: string;
}

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  timeoutMs: number;
  /** Called with each line the command writes to standard error. */
  onErrorLine?: (line: string) => void;
}

const KEEP = 64 * 1024;

/** Runs a command without a shell and without standard input, and never throws: a failure is in the result. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    let output = '';
    let errors = '';
    let partialLine = '';
    let timedOut = false;
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, options.timeoutMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEEP);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-KEEP);
      const lines = (partialLine + text).split('\n');
      partialLine = lines.pop() ?? '';
      for (const line of lines) options.onErrorLine?.(line);
    });
    child.on('error', (error) => {
      clearTimeout(timer);
      const missing = errorCode(error) === 'ENOENT';
      resolve({ ok: false, output, errors, reason: missing ? 'not found' : error.message });
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const reason = timedOut
        ? `no end within ${options.timeoutMs / 1000} s`
        : code === 0
          ? ''
          : `ended with ${signal ?? `exit code ${code}`}`;
      resolve({ ok: reason === '', output, errors, reason });
    });
  });
}

/** Whether a dotted version is as new as another; a pre-release suffix (`1.27rc1`) counts as its release. */
export function isAtLeast(found: string, needed: string): boolean {
  const numbers = (version: string) => version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  const [have, want] = [numbers(found), numbers(needed)];
  for (let index = 0; index < Math.max(have.length, want.length); index += 1) {
    const difference = (have[index] ?? 0) - (want[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Below what systems give to outgoing connections: one of those could have the port before it is listened on. */
const FIRST_PORT = 20_000;
const END_OF_PORTS = 32_000;

/** A port on loopback that nobody listens on right now, and that no outgoing connection is given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, END_OF_PORTS);
    try {
      await listenOnce(port);
      return port;
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') throw error;
    }
  }
}

/**
 * Checks that a port on loopback can be listened on.
 *
 * @param variable the environment variable that changes the port, named in the error
 * @throws Error naming the port and the variable, when another process has it
 */
export async function assertPortFree(port: number, variable: string): Promise<void> {
  try {
    await listenOnce(port);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    if (code === 'EADDRINUSE') {
      throw new Error(
        `Port ${port} is in use by another program. Stop it, or set ${variable} to another port.`,
      );
    }
    throw new Error(`Port ${port} cannot be used (${code}). Set ${variable} to another port.`);
  }
}

function listenOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });
}
