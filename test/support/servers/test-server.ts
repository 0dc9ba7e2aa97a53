import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect } from 'vitest';
import { startEmbeddedTemporal } from '../../../src/dev/embedded-temporal.ts';
import { everyHistory, replay } from '../replays.ts';

/** For what hangs: a thousand histories, each cut at every task, take minutes beside what else computes. */
const REPLAYED_WITHIN_MS = 600_000;

interface ReplayOptions {
  except?: (workflowId: string) => boolean;
  dataConverter?: DataConverter;
}

/** A dev server that only one test file uses. */
export interface TestServer {
  readonly address: string;
  readonly namespace: string;
  readonly connection: Connection;
  /** For workers. */
  readonly nativeConnection: NativeConnection;
  readonly client: Client;
}

/**
 * Starts a dev server before the tests of a file, its state in memory, and stops it after them; every history on it must replay.
 * Called at the top of a file or a `describe`; its fields can be read from `beforeAll` on.
 * @param options.except workflow ids that a test broke on purpose
 * @param options.dataConverter that of its workers, unless it is the usual one
 */
export function withTestServer({ except = () => false, dataConverter }: ReplayOptions = {}): TestServer {
  const server = {} as TestServer;
  let stop: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    const { address, namespace, ...started } = await startEmbeddedTemporal({ port: 0 });
    stop = started.stop;
    const connection = await Connection.connect({ address });
    const nativeConnection = await NativeConnection.connect({ address });
    const client = new Client({ connection });
    Object.assign(server, { address, namespace, connection, nativeConnection, client });
  });
  afterAll(async () => {
    try {
      const options = dataConverter === undefined ? {} : { dataConverter };
      const { faults } = await replay(everyHistory(server.client, { except }), options);
      expect(faults).toEqual(new Map());
    } finally {
      await server.connection?.close();
      await server.nativeConnection?.close();
      await stop();
    }
  }, REPLAYED_WITHIN_MS);
  return server;
}
