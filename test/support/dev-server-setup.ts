import type { TestProject } from 'vitest/node';
import { startEmbeddedTemporal } from '../../src/dev/index.ts';

/** Global setup of the `e2e` project: one Temporal server, its state in memory, for all its test files. */
export default async function startTestServer(project: TestProject): Promise<() => Promise<void>> {
  const server = await startEmbeddedTemporal({ port: 0 });
  project.provide('temporalAddress', server.address);
  return server.stop;
}

declare module 'vitest' {
  interface ProvidedContext {
    temporalAddress: string;
  }
}
