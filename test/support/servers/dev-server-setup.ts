import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedTemporal } from '../../../src/dev/embedded-temporal.ts';

/** As many files of the `e2e` project run at a time, each with a server that no other uses meanwhile. */
export const E2E_AT_A_TIME = 3;

/** Global setup of the `e2e` project: Temporal servers, their state in memory, and a folder to say who has which. */
export default async function startTestServers(project: TestProject): Promise<() => Promise<void>> {
  const locks = await mkdtemp(join(tmpdir(), 'order-screening-servers-'));
  const servers = await Promise.all(
    Array.from({ length: E2E_AT_A_TIME }, () => startEmbeddedTemporal({ port: 0 })),
  );
  project.provide('temporalServers', { addresses: servers.map(({ address }) => address), locks });
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(locks, { recursive: true, force: true });
  };
}

declare module 'vitest' {
  interface ProvidedContext {
    temporalServers: { addresses: string[]; locks: string };
  }
}
