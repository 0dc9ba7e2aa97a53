import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { API_WITHOUT_TEMPORAL } from '../support/index.ts';

/** Logs each 10 ms, says on standard error when it has logged often, and takes a while to stop. */
const BUSY = `import { runProcess } from './src/platform/process.ts';
  import { setTimeout as sleep } from 'node:timers/promises';
  const options = { stopWithinMs: 60_000, stopping: 'stopping: waiting for running tasks' };
  runProcess('api', options, async (_config, log) => {
    setInterval(() => log.info('it runs'), 10);
    setTimeout(() => process.stderr.write('often'), 300);
    const stop = async () => {
      await sleep(300);
      log.info('it has stopped');
    };
    return { stop };
  });`;

/** Starts a process whose standard output is the file, and waits until it has logged often. */
async function logInto(file: string) {
  const args = ['--import', './bin/typescript.mjs', '--input-type=module', '-e', BUSY];
  const env = { ...process.env, ...API_WITHOUT_TEMPORAL };
  const output = await open(file, 'w');
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', output.fd, 'pipe'] });
  await output.close();
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  const often = new Promise((resolve) => child.stderr?.once('data', resolve));
  await Promise.race([often, ended]);
  return {
    /** Ends it by a signal. @returns its exit code */
    stop: async () => {
      child.kill('SIGTERM');
      return (await ended)[0];
    },
  };
}

/** Reads two lines of a pipe, as `head` does, then closes it. */
async function head(pipe: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await promisify(execFile)('head', ['-n', '2', pipe], { timeout: 30_000 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

it('a process whose log has no space goes on, and ends well by a signal', async () => {
  const child = await logInto('/dev/full');
  expect(await child.stop()).toBe(0);
});

it('a process whose log nobody reads goes on, logs to the next reader, and says how many lines were lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const first = head(pipe);
  const child = await logInto(pipe);
  expect(await first).toMatchObject([{ msg: 'it runs' }, { msg: 'it runs' }]);
  const lost = { level: 50, msg: 'lines of the log could not be written', lost: expect.any(Number) };
  expect(await head(pipe)).toMatchObject([{ msg: 'it runs' }, lost]);
  expect(await child.stop()).toBe(0);
});
