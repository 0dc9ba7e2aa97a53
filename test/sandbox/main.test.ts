import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchFolder } from '../dev/fake-commands.ts';
import { spawnForTest } from '../support/index.ts';
import { send, startSandbox, transaction } from './support.ts';

const SCRIPT = 'src/sandbox/main.ts';

const EMPTY = { SANDBOX_HOST: '', SANDBOX_WEBHOOK_URL: '', SANDBOX_WEBHOOK_SECRET: '' };

it.each([
  ['SIGTERM', {}],
  ['SIGINT', EMPTY],
] as const)(
  'shows its addresses, and ends well and quickly at %s, with the variables %j',
  async (signal, variables) => {
    const DATA_DIR = await scratchFolder();
    const sandbox = await spawnForTest(SCRIPT, {
      env: { DATA_DIR, SANDBOX_PORT: '0', ...variables },
      readyWhen: /\/decision/,
    });
    const base = /test +(http:\/\/127\.0\.0\.1:\S+)/.exec(sandbox.output())?.[1] ?? '';
    const { body } = await send('POST', `${base}/transaction`, transaction());
    const began = performance.now();
    sandbox.kill(signal);
    expect(await sandbox.ended).toBe(0);
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(await readFile(join(DATA_DIR, 'sandbox.json'), 'utf8')).toContain(body.id);
  },
);

it('names every variable that has an error, also when its port is taken', async () => {
  const { port } = new URL((await startSandbox()).url);
  const wrong = { SANDBOX_PORT: 'many', SANDBOX_WEBHOOK_URL: 'nowhere', SANDBOX_WEBHOOK_SECRET: '€' };
  for (const [env, words] of [
    [{ SANDBOX_PORT: port }, `Port ${port} on 127.0.0.1 is taken. Set SANDBOX_PORT`],
    [wrong, /SANDBOX_PORT: .*SANDBOX_WEBHOOK_URL: .*SANDBOX_WEBHOOK_SECRET: /s],
  ] as const) {
    const refused = await spawnForTest(SCRIPT, { env: { DATA_DIR: await scratchFolder(), ...env } });
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toMatch(words);
  }
});
