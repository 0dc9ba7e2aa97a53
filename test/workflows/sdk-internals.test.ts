import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';

const HISTORY = join(import.meta.dirname, '../replay/histories/unreleased-passed.json');
const file = (name: string) => fileURLToPath(import.meta.resolve(name));
const without = file('./without-sdk-internals.ts');

/** @returns why an order with the interceptor doesn't replay, or undefined: it does */
async function fault(interceptor: string, workflowsPath?: string): Promise<string | undefined> {
  const { history, workflowId } = JSON.parse(readFileSync(HISTORY, 'utf8'));
  const bundle = await workflowBundle({
    workflowInterceptorModules: [file(interceptor)],
    ...(workflowsPath !== undefined && { workflowsPath }),
  });
  // In a thread of its own, as in a worker.
  const options = { workflowBundle: bundle, debugMode: false };
  return Worker.runReplayHistory(options, history, workflowId).then(
    () => undefined,
    (error: unknown) => String(error),
  );
}

/** Each bundles the workflows once more. */
const PATIENT_MS = 180_000;

describe('an order in the workflow sandbox', { timeout: PATIENT_MS }, () => {
  beforeAll(() => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
  });

  it('keeps no stacks of what an order waits for', async () => {
    const told = 'The SDK keeps stacks in spite of src/workflows/sdk-internals.ts: its sandbox has changed.';
    expect(await fault('./kept-stacks.ts'), told).toBeUndefined();
  });

  it('would keep them otherwise', async () => {
    const told = 'The SDK keeps no stacks by itself any more: src/workflows/sdk-internals.ts can go.';
    expect(await fault('./kept-stacks.ts', without), told).toMatch(/it keeps the stacks of \d+ promises/);
  });

  it('is told of a promise of its own that is rejected, and that nobody handles', async () => {
    const told = await fault('./unhandled.ts', without);
    expect(told).toContain('nobody handles it');
    expect(await fault('./unhandled.ts')).toBe(told);
  });
});
