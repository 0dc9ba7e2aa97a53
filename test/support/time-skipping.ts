import { TestWorkflowEnvironment } from '@temporalio/testing';
import { addSearchAttributes } from '../../src/temporal/namespace.ts';
import { findTimeSkippingServer } from './time-skipping-server.ts';

/**
 * A test environment whose server skips time while it waits for nothing but timers, with the search attributes of
 * orders registered. Its clock is global: one environment a test file, its tests one after another, `teardown()` in
 * `afterAll`. It can't list workflows; for that and for Update-with-Start on a closed order use the dev server.
 */
export async function createTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = await findTimeSkippingServer();
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
  try {
    // That server can add search attributes but not list them, so the whole set-up can't be used here.
    await addSearchAttributes(environment.connection, environment.namespace ?? 'default');
  } catch (error) {
    await environment.teardown();
    throw error;
  }
  return environment;
}
