import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { closeAfterTest, send, startSandbox, transaction } from './support.ts';

async function run(env: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  closeAfterTest(() => rm(folder, { recursive: true }));
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', './bin/typescript.mjs', 'src/sandbox/main.ts'],
    {
      env: { PATH: process.env.PATH, DATA_DIR: folder, SANDBOX_PORT: '0', ...env },
    },
  );
  closeAfterTest(async () => child.kill('SIGKILL'));
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  return { child, folder, output: () => output };
}

describe('npm run sandbox', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'shows its addresses, and ends well and quickly at %s',
    async (signal) => {
      const { child, folder, output } = await run({});
      await vi.waitFor(() => expect(output()).toContain('/decision'), 15_000);
      const base = /test +(\S+)/.exec(output())?.[1] ?? '';
      const { body } = await send('POST', `${base}/transaction`, transaction());
      const began = performance.now();
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(performance.now() - began).toBeLessThan(3_000);
      expect(await readFile(join(folder, 'sandbox.json'), 'utf8')).toContain(body.id);
    },
  );

  it('names the port and the variable when the port is taken', async () => {
    const { port } = new URL((await startSandbox()).url);
    const { child, output } = await run({ SANDBOX_PORT: port });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(output()).toContain(`Port ${port} on 127.0.0.1 is taken. Set SANDBOX_PORT`);
  });

  it('lists every fault of its environment', async () => {
    const { child, output } = await run({ SANDBOX_PORT: 'many', SANDBOX_WEBHOOK_URL: 'nowhere' });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(output()).toMatch(/SANDBOX_PORT: .*SANDBOX_WEBHOOK_URL: /s);
  });
}, 30_000);
