import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { workflowBundle } from '../../src/platform/workflow-bundle.ts';

const filesOf = (folder: string): string[] =>
  readdirSync(join(import.meta.dirname, folder)).map((file) => join(folder, file));
const recorded = filesOf('histories');
/** Real histories that once did not replay. */
const found = filesOf('found');

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  await workflowBundle();
});

describe('a recorded order replays with the workflow code of today', () => {
  it('of fourteen kinds', () => expect(recorded.length).toBeGreaterThanOrEqual(14));

  it.each([...recorded, ...found])('%s', async (file) => {
    const { history, workflowId } = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history, workflowId);
  });
});
