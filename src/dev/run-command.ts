import { spawn } from 'node:child_process';
import { errorCode } from '../error-code.ts';

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
