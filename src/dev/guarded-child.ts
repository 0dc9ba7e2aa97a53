import { type ChildProcess, spawn } from 'node:child_process';
import { errorCode } from '../error-code.ts';

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
// the parent has finished its work with it.
const GUARD = `
trap : TERM INT
"$@" 3<&- &
child=$!
(while read -r _; do :; done; kill "$child") <&3 3<&- >/dev/null 2>&1 &
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
 * @throws Error when the program can't be started
 */
export async function startGuardedChild(
  command: string,
  args: readonly string[],
  output: number | 'ignore',
): Promise<GuardedChild> {
  const guarded = process.platform !== 'win32';
  const child = guarded
    ? spawn('sh', ['-c', GUARD, 'sh', command, ...args], {
        detached: true,
        stdio: ['ignore', output, output, 'pipe'],
      })
    : spawn(command, args, { stdio: ['ignore', output, output] });
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
