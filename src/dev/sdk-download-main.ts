// Obtains a test or dev server the way the Temporal SDK does, and prints the binary's path.
// The SDK has no call that only downloads, and its runtime can be configured once a process; hence a process of
// its own, which starts the server on a random port and stops it again, and which can be killed when it hangs.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [, , kind, downloadDir] = process.argv;
if ((kind !== 'dev-server' && kind !== 'time-skipping') || downloadDir === undefined) {
  throw new Error('usage: sdk-download-main.ts dev-server|time-skipping <folder>');
}
const server = { executable: { type: 'cached-download' as const, downloadDir } };
const environment =
  kind === 'dev-server'
    ? await TestWorkflowEnvironment.createLocal({ server })
    : await TestWorkflowEnvironment.createTimeSkipping({ server });
await environment.teardown();
const [binary] = await readdir(downloadDir);
if (binary === undefined) throw new Error('the SDK left no binary');
console.log(join(downloadDir, binary));
