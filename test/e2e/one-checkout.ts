/**
 * Screens an order twice in one process, with Temporal at TEMPORAL_ADDRESS, and writes which files of `src` decided something the
 * second time, by V8's own counts: a function decides where V8 counts more than one block in it, since something was left out, or
 * done again. V8 counts blocks only of what it compiles after it was told to, so everything is loaded late.
 */
import { randomUUID } from 'node:crypto';
import { Session } from 'node:inspector/promises';

/** A comment that webpack writes in front of each module of the workflow bundle. */
const MODULE = /!\*\*\* \.\/(src\/\S+) \*\*\*!/g;
const API_KEY = 'a-key-that-is-long-enough-for-a-test';

const session = new Session();
session.connect();
await session.post('Debugger.enable');
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

// The SDK then runs workflows in this thread, where they are counted.
process.env.TEMPORAL_DEBUG = '1';
const { Client } = await import('@temporalio/client');
const { startApi } = await import('../../src/api/create-api.ts');
const { loadConfig } = await import('../../src/config/index.ts');
const { createLog } = await import('../../src/process/log.ts');
const { createSandbox } = await import('../../src/sandbox/create-sandbox.ts');
const { createOrderScreening } = await import('../../src/starter.ts');
const { connectWorker, startWorkers, workerSettings, worldOf } = await import('../../src/worker.ts');
const { withEmail } = await import('../fixtures/transactions.ts');

const sandbox = await createSandbox({ port: 0 });
const config = loadConfig({
  ...process.env,
  SCREENING_API_KEY: 'sandbox-test-key',
  SCREENING_BASE_URL: sandbox.testBaseUrl,
  SCREENING_PORTAL_BASE_URL: sandbox.portalBaseUrl,
  API_KEYS: `shop:${API_KEY}`,
});
const connection = await connectWorker(config.temporal);
const settings = workerSettings(config, connection);
const world = worldOf(config);
await startWorkers(settings, world);
const { namespace, dataConverter } = settings;
const client = new Client({ connection, namespace, dataConverter });
const { findIntegration } = config;
const orders = createOrderScreening({ client, findIntegration, cards: world.cards });
await startApi(config, orders, createLog('api', 'error'));

async function checkout(): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${config.api.port}/v1/orders/${randomUUID()}/screening`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` },
    body: JSON.stringify({ transaction: withEmail('pass@example.com') }),
  });
  const { decision } = Object(await answer.json());
  if (decision !== 'pass') throw new Error(`the checkout was answered ${answer.status}, ${decision}`);
}

await checkout();
await session.post('Profiler.takePreciseCoverage');
await checkout();
const { result } = await session.post('Profiler.takePreciseCoverage');
const files = new Set<string>();
for (const { scriptId, url, functions } of result) {
  const starts = functions.flatMap(({ ranges: [whole, ...blocks] }) =>
    whole !== undefined && whole.count > 0 && blocks.length > 0 ? [whole.startOffset] : [],
  );
  const own = /\/(src\/.+\.ts)$/.exec(url)?.[1];
  if (starts.length > 0 && own !== undefined) files.add(own);
  if (starts.length > 0 && /\/workflows-\w+\.js$/.test(url)) {
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    const modules = [...scriptSource.matchAll(MODULE)];
    for (const start of starts) files.add(modules.findLast(({ index }) => index < start)?.[1] ?? '');
  }
}
console.log(
  `deciding files: ${[...files]
    .filter((file) => file.startsWith('src/'))
    .sort()
    .join(' ')}`,
);
process.exit();
