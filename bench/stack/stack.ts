/** The base of every measurement: one Temporal server, the sandbox, and an events receiver. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { registerNamespace, setupTemporal } from '../../src/platform/namespace.ts';
import { StartedParts } from '../../src/platform/parts.ts';
import { spawnProcess } from '../../test/support/processes/spawn-process.ts';
import { type BenchSandbox, startSandbox } from './sandbox.ts';

/** Several processes share few cores while they start. */
const READY_WITHIN_MS = 120_000;

export interface Stack {
  address: string;
  connection: Connection;
  /** The server's process group, as a negative number; empty when the bench did not start the server. */
  serverPids: readonly number[];
  sandbox: BenchSandbox;
  /** Accepts the events of all orders. */
  events: { url: string; secret: string };
  /** For policy files; deleted with the stack. */
  directory: string;
  /** Registers a namespace with its search attributes, so that deployments of different settings share one server. */
  makeNamespace: (namespace: string) => Promise<void>;
  /** Starts a process that is stopped with the stack. */
  startProcess: typeof spawnProcess;
}

/**
 * Starts a stack for a measurement, and stops it with all its processes afterwards.
 * @param address of a running Temporal server; absent: the bench starts the server of `npm start`
 */
export async function withStack<T>(
  address: string | undefined,
  measure: (stack: Stack) => Promise<T>,
): Promise<T> {
  const parts = new StartedParts();
  try {
    const result = await measure(await startStack(address, parts));
    await parts.stop();
    return result;
  } catch (error) {
    await parts.giveUp();
    throw error;
  }
}

async function startStack(given: string | undefined, parts: StartedParts): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-bench-'));
  parts.add(() => rm(directory, { recursive: true, force: true }));
  let address = given;
  let serverPids: number[] = [];
  if (address === undefined) {
    const server = await startEmbeddedTemporal({ port: 0, dataDir: join(directory, 'temporal') });
    parts.add(() => server.stop());
    address = server.address;
    serverPids = [-server.pid];
  }
  const startProcess: Stack['startProcess'] = async (script, options) => {
    const process = await spawnProcess(script, { readyWithinMs: READY_WITHIN_MS, ...options });
    parts.add(() => process.stop());
    return process;
  };
  const sandbox = await startSandbox(startProcess);
  const events = await startEventsReceiver();
  const connection = await Connection.connect({ address });
  parts.add(() => connection.close());
  const makeNamespace = async (namespace: string) => {
    await registerNamespace(connection, namespace);
    await setupTemporal(connection, namespace);
  };
  return { address, connection, serverPids, sandbox, events, directory, makeNamespace, startProcess };
}

async function startEventsReceiver(): Promise<Stack['events']> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  // It ends with this process.
  server.unref();
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${Object(server.address()).port}/events`,
    secret: `whsec_${Buffer.from('a secret of the bench’s receiver').toString('base64')}`,
  };
}
