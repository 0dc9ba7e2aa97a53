import { findTimeSkippingServer } from './time-skipping-server.ts';

/** Global setup of the `workflows` project: fetches the test server before a test's own time-out counts. */
export default async function fetchTimeSkippingServer(): Promise<void> {
  await findTimeSkippingServer();
}
