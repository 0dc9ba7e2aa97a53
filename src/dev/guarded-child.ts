import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { errorCode } from '../config/values.ts';

/** A child process in its own process group that ends when its parent does. */
interface GuardedChild {
  pid: number;
  /** Sends a signal to the child and its guard, unless the child has ended. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the child has ended: `exit code 1` or the signal. */
  ended: Promise<string>;
  /** Stops the child, as its guard does when the parent ends, and waits for its end. */
  stop(): Promise<void>;
}

// The guard reads a pipe that only the parent holds open. The pipe closes when the parent ends, even by SIGKILL, which the parent
// can't handle. Because of the child's own process group, Ctrl-C in the terminal doesn't stop it before the parent is done with it.
// A server waits for open connections, even idle ones, so SIGKILL follows after 5 s.
const GUARD = `
trap : TERM INT
"$@" 3<&- &
child=$!
(read -r _; kill "$child"; sleep 5; kill -KILL "$child") <&3 3<&- >/dev/null 2>&1 &
guard=$!
exec 3<&-
while wait "$child"; code=$?; kill -0 "$child" 2>/dev/null; do :; done
kill "$guard" 2>/dev/null
exit "$code"
`;

/**
 * Starts a program that ends with this process, even if this process is killed.
 *
 * @param output a file descriptor for the child's standard output and error
 * @throws Error if the program can't be started
 */
export async function startGuardedChild(
  command: string,
  args: readonly string[],
  output: number,
): Promise<GuardedChild> {
  const child = spawn('sh', ['-c', GUARD, 'sh', command, ...args], {
    detached: true,
    stdio: ['ignore', output, output, 'pipe'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      child.stdio[3]?.destroy();
      resolve(signal ?? `exit code ${code}`);
    });
  });
  await once(child, 'spawn');
  const { pid = 0 } = child;
  const kill = (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error;
    }
  };
  const stop = async () => {
    child.stdio[3]?.destroy();
    await ended;
  };
  return { pid, kill, ended, stop };
}
