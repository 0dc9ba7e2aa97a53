import { TestWorkflowEnvironment } from '@temporalio/testing';
import { addSearchAttributes } from '../../../src/platform/namespace.ts';
import { findTimeSkippingServer } from './time-skipping-server.ts';

/**
 * A test environment whose server skips time while it waits for nothing but timers, with the search attributes of
 * orders registered. Its clock is global: one environment a test file, its tests one after another, `teardown()` in
 * `afterAll`. It can't list workflows; for that and for Update-with-Start on a closed order use the dev server.
 */
export async function createTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const environment = await start(await findTimeSkippingServer(), STARTS);
  try {
    // That server can add search attributes but not list them, so the whole set-up can't be used here.
    await addSearchAttributes(environment.connection, environment.namespace ?? 'default');
  } catch (error) {
    await environment.teardown();
    throw error;
  }
  return environment;
}

/** The SDK gives a server five seconds to start, which is short for a JVM beside other programs; nothing of it can be set. */
const STARTS = 4;

function start(path: string, starts: number): Promise<TestWorkflowEnvironment> {
  const server = { executable: { type: 'existing-path', path } } as const;
  return TestWorkflowEnvironment.createTimeSkipping({ server }).catch((error: unknown) => {
    if (starts <= 1 || !/did not start within/.test(String(error))) throw error;
    return start(path, starts - 1);
  });
}
