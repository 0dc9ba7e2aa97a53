// Downloads a test or dev server with the Temporal SDK into a folder.
// The SDK has no call that only downloads, so this starts the server on a random port and stops it. It is a process of its own
// because the SDK's runtime is configured once per process, and so that a download that hangs can be killed.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir = ''] = process.argv.slice(2);
const server = { executable: { type: 'cached-download' as const, downloadDir } };
try {
  const environment =
    kind === 'time-skipping'
      ? await TestWorkflowEnvironment.createTimeSkipping({ server })
      : await TestWorkflowEnvironment.createLocal({ server });
  await environment.teardown();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
