import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, inject } from 'vitest';
import './dev-server-setup.ts';

/** The dev server of a test file: those that run after it in the same pool have it, too. */
export interface TestServer {
  readonly address: string;
  readonly namespace: string;
  readonly connection: Connection;
  /** For workers. */
  readonly nativeConnection: NativeConnection;
  readonly client: Client;
}

/** @returns the address of the file's dev server */
export function temporalAddress(): string {
  const address = inject('temporalAddresses')[Number(process.env.VITEST_POOL_ID) - 1];
  if (address === undefined) throw new Error(`no server for files of pool ${process.env.VITEST_POOL_ID}`);
  return address;
}

/**
 * Connects a test file to its dev server before its tests and disconnects after them. Called at the top of a
 * file or a `describe`; its fields can be read from `beforeAll` on. Order ids must be unique over all files.
 */
export function withTestServer(): TestServer {
  const address = temporalAddress();
  let connected: Omit<TestServer, 'address' | 'namespace'> | undefined;
  const field = <K extends 'connection' | 'nativeConnection' | 'client'>(name: K) => {
    if (connected === undefined) throw new Error(`${name} can be read from beforeAll on`);
    return connected[name];
  };
  beforeAll(async () => {
    const connection = await Connection.connect({ address });
    const nativeConnection = await NativeConnection.connect({ address });
    connected = { connection, nativeConnection, client: new Client({ connection }) };
  });
  afterAll(async () => {
    await connected?.connection.close();
    await connected?.nativeConnection.close();
  });
  return {
    address,
    namespace: 'default',
    get connection() {
      return field('connection');
    },
    get nativeConnection() {
      return field('nativeConnection');
    },
    get client() {
      return field('client');
    },
  };
}
