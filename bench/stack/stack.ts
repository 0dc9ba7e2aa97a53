/** What everything that is measured stands on: one Temporal server, the sandbox, and a receiver of events. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/index.ts';
import { type EventsReceiver, startEventsReceiver } from './events-receiver.ts';
import { type BenchSandbox, startSandbox } from './sandbox.ts';

export interface Stack {
  address: string;
  connection: Connection;
  /** Process group of the server, as a negative number; absent when it is somebody else's. */
  serverPid?: number;
  sandbox: BenchSandbox;
  events: EventsReceiver;
  /** For policy files and profiles; deleted with the stack. */
  directory: string;
  /** Stops the server and the sandbox where they are, or lets them go on. */
  signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  stop: () => Promise<void>;
}

/**
 * Starts it, with the server that `npm start` has: state in a file, in a scratch folder.
 * @param address of a Temporal server that is to be measured in place of that
 */
export async function startStack(address?: string): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-bench-'));
  const parts: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const stop = async () => {
    for (const part of parts.splice(0).reverse()) await part();
  };
  try {
    let server: EmbeddedTemporal | undefined;
    if (address === undefined) {
      const started = await startEmbeddedTemporal({ port: 0, dataDir: join(directory, 'temporal') });
      parts.push(() => started.stop());
      server = started;
    }
    const sandbox = await startSandbox();
    parts.push(() => sandbox.process.stop());
    const events = await startEventsReceiver();
    parts.push(() => events.close());
    const at = server?.address ?? address ?? '';
    const connection = await Connection.connect({ address: at });
    parts.push(() => connection.close());
    return {
      address: at,
      connection,
      ...(server !== undefined && { serverPid: -server.pid }),
      sandbox,
      events,
      directory,
      signal: (signal) => {
        server?.kill(signal);
        sandbox.process.kill(signal);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
