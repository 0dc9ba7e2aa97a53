import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';

const HISTORY = join(import.meta.dirname, '../replay/histories/unreleased-passed.json');
const keptStacks = fileURLToPath(import.meta.resolve('./kept-stacks.ts'));

/** @returns why an order doesn't replay that may keep no stacks, or undefined: it does */
async function fault(workflowsPath?: string): Promise<string | undefined> {
  const { history, workflowId } = JSON.parse(readFileSync(HISTORY, 'utf8'));
  const bundle = await workflowBundle({
    workflowInterceptorModules: [keptStacks],
    ...(workflowsPath !== undefined && { workflowsPath }),
  });
  return Worker.runReplayHistory({ workflowBundle: bundle }, history, workflowId).then(
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
    expect(await fault(), told).toBeUndefined();
  });

  it('would keep them otherwise', async () => {
    const told = 'The SDK keeps no stacks by itself any more: src/workflows/sdk-internals.ts can go.';
    const without = fileURLToPath(import.meta.resolve('./without-sdk-internals.ts'));
    expect(await fault(without), told).toMatch(/it keeps the stacks of \d+ promises/);
  });
});
