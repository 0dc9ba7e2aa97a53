import type { TestProject } from 'vitest/node';
import { startEmbeddedTemporal } from '../../src/dev/index.ts';

/** As many files of the `e2e` project run at a time, each with a server that no other uses meanwhile. */
export const E2E_AT_A_TIME = 2;

/** Global setup of the `e2e` project: Temporal servers, their state in memory, for all its test files. */
export default async function startTestServers(project: TestProject): Promise<() => Promise<void>> {
  const servers = await Promise.all(
    Array.from({ length: E2E_AT_A_TIME }, () => startEmbeddedTemporal({ port: 0 })),
  );
  project.provide(
    'temporalAddresses',
    servers.map(({ address }) => address),
  );
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
}

declare module 'vitest' {
  interface ProvidedContext {
    temporalAddresses: string[];
  }
}
