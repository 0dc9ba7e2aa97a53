/** What everything that is measured stands on: one Temporal server, the sandbox, and a receiver of events. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { StartedParts } from '../../src/process/parts.ts';
import { type EventsReceiver, startEventsReceiver } from './events-receiver.ts';
import { type BenchSandbox, startSandbox } from './sandbox.ts';

export interface Stack {
  address: string;
  connection: Connection;
  /** Process group of the server, as a negative number; none when it is somebody else's. */
  serverPids: readonly number[];
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
  const parts = new StartedParts();
  parts.add(() => rm(directory, { recursive: true, force: true }));
  try {
    let server: EmbeddedTemporal | undefined;
    if (address === undefined) {
      const started = await startEmbeddedTemporal({ port: 0, dataDir: join(directory, 'temporal') });
      parts.add(() => started.stop());
      server = started;
    }
    const sandbox = await startSandbox();
    parts.add(() => sandbox.process.stop());
    const events = await startEventsReceiver();
    parts.add(() => events.close());
    const at = server?.address ?? address ?? '';
    const connection = await Connection.connect({ address: at });
    parts.add(() => connection.close());
    return {
      address: at,
      connection,
      serverPids: server === undefined ? [] : [-server.pid],
      sandbox,
      events,
      directory,
      signal: (signal) => {
        server?.kill(signal);
        sandbox.process.kill(signal);
      },
      stop: parts.stop,
    };
  } catch (error) {
    await parts.giveUp();
    throw error;
  }
}
