import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { API_WITHOUT_TEMPORAL, eventually, freePort, spawnForTest } from '../support/index.ts';

it.each(['src/worker.ts', 'src/serve.ts'])(
  '%s ends well by a signal that comes while it starts',
  async (script) => {
    let asked = false;
    const silent = createServer(() => {
      asked = true;
    });
    const port = await freePort();
    await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
    const TEMPORAL_ADDRESS = `127.0.0.1:${port}`;
    const settings = { SCREENING_API_KEY: 'a-key', METRICS_PORT: '0', TEMPORAL_ADDRESS };
    const process = await spawnForTest(script, { env: { ...API_WITHOUT_TEMPORAL, ...settings } });
    await eventually(() => expect(asked).toBe(true), { timeoutMs: 50_000 });
    process.kill('SIGTERM');
    expect(await process.ended).toBe(0);
    silent.close();
  },
);
