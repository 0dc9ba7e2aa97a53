/** What keeps a worker, and worker and API in one process, from starting is told in words, with the variable to correct. */
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort, spawnForTest, withTestServer } from '../support/index.ts';
import { aNamespace } from './doctor-support.ts';

const server = withTestServer();

/** Starts the worker, and worker and API in one process. @returns what each says, since it doesn't start */
function refusals(env: NodeJS.ProcessEnv): Promise<string[]> {
  const scripts = ['src/worker.ts', 'src/serve.ts'];
  return Promise.all(scripts.map((script) => refusal(script, env)));
}

async function refusal(script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const service = await spawnForTest(script, {
    env: {
      TEMPORAL_ADDRESS: server.address,
      SCREENING_API_KEY: 'a-key',
      SCREENING_BASE_URL: 'http://127.0.0.1:1/test',
      SCREENING_PORTAL_BASE_URL: 'http://127.0.0.1:1/portal/api/v1/transaction-update',
      API_PORT: String(await freePort()),
      METRICS_PORT: String(await freePort()),
      ...env,
    },
  });
  expect(await service.ended).toBe(1);
  return service.output();
}

describe('worker, and worker and API together, do not start, and say why', () => {
  it('when the namespace does not exist', async () => {
    for (const said of await refusals({ TEMPORAL_NAMESPACE: 'nowhere' })) {
      expect(said).toMatch(
        /TEMPORAL_NAMESPACE: the namespace nowhere does not exist: run npm run setup:temporal/,
      );
    }
  });

  it('when the namespace is not set up', async () => {
    const namespace = await aNamespace(server.connection);
    for (const said of await refusals({ TEMPORAL_NAMESPACE: namespace })) {
      expect(said).toMatch(
        /TEMPORAL_NAMESPACE: .* lacks the search attributes ScreeningPhase, .*setup:temporal/,
      );
    }
  });

  it('when the port of its metrics is taken', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    const port = await freePort();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    for (const said of await refusals({ METRICS_PORT: String(port) })) {
      expect(said).toContain(`METRICS_PORT: metrics can't be served on port ${port}`);
    }
  });

  it('when Temporal does not answer', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    for (const said of await refusals({ TEMPORAL_ADDRESS: address })) {
      expect(said).toContain(`TEMPORAL_ADDRESS: Temporal doesn't answer at ${address}`);
    }
  });
});
