import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { withFileLock } from '../processes/file-lock.ts';
import { everyHistory, replay } from '../replays.ts';
import './dev-server-setup.ts';

/** For what hangs: a thousand histories, each cut at every task, take minutes beside what else computes. */
const REPLAYED_WITHIN_MS = 600_000;

interface ReplayOptions {
  except?: (workflowId: string) => boolean;
  dataConverter?: DataConverter;
}

/** A dev server that a test file has for itself; others have it later. */
export interface TestServer {
  readonly address: string;
  readonly namespace: string;
  readonly connection: Connection;
  /** For workers. */
  readonly nativeConnection: NativeConnection;
  readonly client: Client;
}

/**
 * Connects a test file to its dev server before its tests and disconnects after them; every history that it made must replay.
 * Called at the top of a file or a `describe`; its fields can be read from `beforeAll` on. Order ids must be unique over all files.
 * @param options.except workflow ids that a test broke on purpose
 * @param options.dataConverter that of its workers, unless it is the usual one
 */
export function withTestServer({ except = () => false, dataConverter }: ReplayOptions = {}): TestServer {
  const server = { namespace: 'default' } as TestServer;
  let leave: () => void = () => undefined;
  let since = new Date();
  beforeAll(async () => {
    const { address, release } = await leaseServer();
    leave = release;
    since = new Date();
    const connection = await Connection.connect({ address });
    const nativeConnection = await NativeConnection.connect({ address });
    Object.assign(server, { address, connection, nativeConnection, client: new Client({ connection }) });
  });
  afterAll(async () => {
    try {
      const options = dataConverter === undefined ? {} : { dataConverter };
      const { faults } = await replay(everyHistory(server.client, { since, except }), options);
      expect(faults).toEqual(new Map());
    } finally {
      await server.connection?.close();
      await server.nativeConnection?.close();
      leave();
    }
  }, REPLAYED_WITHIN_MS);
  return server;
}

/** Waits until a server is free: files that run together would take each other's workflow tasks. */
function leaseServer(): Promise<{ address: string; release: () => void }> {
  const { addresses, locks } = inject('temporalServers');
  return new Promise((leased, failed) => {
    let mine = false;
    for (const address of addresses) {
      const held = withFileLock(join(locks, address.replace(':', '-')), async () => {
        if (mine) return;
        mine = true;
        await new Promise<void>((release) => leased({ address, release }));
      });
      held.catch(failed);
    }
  });
}
