import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { StartedParts } from '../../src/platform/parts.ts';
import { API_WITHOUT_TEMPORAL, eventually, listen, spawnForTest } from '../support/index.ts';

it('parts are stopped once, the last one first, also after one that could not be stopped', async () => {
  const parts = new StartedParts();
  const stopped: string[] = [];
  parts.add(async () => stopped.push('connection'));
  parts.add(async () => {
    stopped.push('worker');
    throw new Error('it hangs');
  });
  parts.add(async () => stopped.push('API'));
  await expect(parts.stop()).rejects.toThrow('it hangs');
  await parts.stop();
  expect(stopped).toEqual(['API', 'worker', 'connection']);
});

it('a process that starts ends after an uncaught error, without printing its message', () => {
  const starts = `import { runProcess } from './src/platform/process.ts';
    runProcess('api', { stopWithinMs: 60_000 }, async () => {
      setTimeout(() => { throw new TypeError('quotes a-secret'); });
      return new Promise(() => undefined);
    });`;
  const args = ['--import', './bin/typescript.mjs', '--input-type=module', '-e', starts];
  const env = { ...process.env, ...API_WITHOUT_TEMPORAL };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ err: { type: 'TypeError' }, msg: 'stopping after an error' });
  expect(stdout).not.toContain('a-secret');
}, 30_000);

/** Takes a while to stop. */
const SLOW = `import { runProcess } from './src/platform/process.ts';
  import { setTimeout as sleep } from 'node:timers/promises';
  runProcess('api', { stopWithinMs: 60_000, stopping: 'stopping: waiting for running tasks' }, async (_config, log) => {
    setInterval(() => log.info('it runs'), 100);
    return { stop: () => sleep(3_000) };
  });`;

it.each([
  ['the same signal within a second, which npm passes on, counts once', 100, 0],
  ['a second signal ends a process that is stopping', 1_500, 1],
])('%s', async (_rule, pauseMs, code) => {
  const args = ['--import', './bin/typescript.mjs', '--input-type=module', '-e', SLOW];
  const env = { ...process.env, ...API_WITHOUT_TEMPORAL };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const logged = (words: string) =>
    new Promise<void>((resolve) =>
      child.stdout.on('data', (lines) => String(lines).includes(words) && resolve()),
    );
  await logged('it runs');
  child.kill('SIGTERM');
  await logged('stopping: waiting');
  await sleep(pauseMs);
  child.kill('SIGTERM');
  expect(await ended).toEqual([code, null]);
});

it.each(['src/worker.ts', 'src/serve.ts'])(
  '%s ends well by a signal that comes while it starts',
  async (script) => {
    let asked = false;
    const silent = await listen(() => {
      asked = true;
    });
    const TEMPORAL_ADDRESS = `127.0.0.1:${silent}`;
    const settings = { SCREENING_API_KEY: 'a-key', METRICS_PORT: '0', TEMPORAL_ADDRESS };
    const process = await spawnForTest(script, { env: { ...API_WITHOUT_TEMPORAL, ...settings } });
    await eventually(() => expect(asked).toBe(true), { timeoutMs: 50_000 });
    process.kill('SIGTERM');
    expect(await process.ended).toBe(0);
  },
);
