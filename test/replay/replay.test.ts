import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { workflowBundle } from '../../src/platform/workflow-bundle.ts';

const DIRECTORY = join(import.meta.dirname, 'histories');
const files = readdirSync(DIRECTORY);

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  await workflowBundle();
});

describe('a recorded order replays with the workflow code of today', () => {
  it('of fourteen kinds', () => expect(files.length).toBeGreaterThanOrEqual(14));

  it.each(files)('%s', async (file) => {
    const { history, workflowId } = JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8'));
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history, workflowId);
  });
});
