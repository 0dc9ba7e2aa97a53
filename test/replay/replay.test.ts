import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';

const DIRECTORY = join(import.meta.dirname, 'histories');
const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.json'));
const BUNDLE_WITHIN_MS = 60_000;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  await workflowBundle();
}, BUNDLE_WITHIN_MS);

const recorded = (file: string) => JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8'));

describe('a recorded order replays with the workflow code of today', () => {
  it('of each kind, at least a dozen', () => expect(files.length).toBeGreaterThanOrEqual(12));

  it.each(files)('%s', async (file) => {
    const { history, workflowId } = recorded(file);
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history, workflowId);
  });

  it('and a history that the code could not have made is refused', async () => {
    const [file = ''] = files;
    const { history, workflowId } = recorded(file);
    for (const event of history.events) {
      const timer = event.timerStartedEventAttributes;
      if (timer !== undefined) timer.startToFireTimeout = '1s';
      const marker = event.markerRecordedEventAttributes;
      if (marker !== undefined) marker.markerName = 'some-other-marker';
    }
    await expect(
      Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history, workflowId),
    ).rejects.toThrow(/nondeterminism|TMPRL1100/i);
  });
});
