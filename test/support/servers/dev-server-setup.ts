import { findTemporalBinary } from '../../../src/dev/temporal-binary.ts';

/** Global setup of the `e2e` projects: fetches or builds Temporal's dev server before a test's own time-out counts. */
export default async function fetchDevServer(): Promise<void> {
  await findTemporalBinary();
}
