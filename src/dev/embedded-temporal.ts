/** Runs Temporal's dev server as a child process. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { MEMO_BYTES } from '../order/view/bounded-record.ts';
import { setupTemporal, startSweep } from '../platform/namespace.ts';
import { startGuardedChild } from './guarded-child.ts';
import { assertPortFree, freePort, isPortFree } from './ports.ts';
import { findTemporalBinary } from './temporal-binary.ts';

export interface EmbeddedTemporalOptions {
  /** Port of the server on 127.0.0.1; 0 takes a free one. */
  port: number;
  /** Port of the Temporal UI; 0 takes a free one. Without it there is no UI. */
  uiPort?: number;
  /** Folder of `temporal.db` and `temporal.log`. Without it the state is in memory and the log is deleted with the server. */
  dataDir?: string;
  namespace?: string;
  codecEndpoint?: string;
}

/** A running Temporal dev server. `pid` is the id of its process group, `address` is `host:port`. */
export type EmbeddedTemporal = Awaited<ReturnType<typeof startServer>>;

const START_TIMEOUT_MS = 60_000;

/** The server picks some ports itself, and another program may take one of them first. A restart picks others. */
const MAX_STARTS = 3;
const PORT_FILE = 'temporal-port';
const PORT_TAKEN = 'address already in use';

/**
 * Starts Temporal's dev server on 127.0.0.1, waits until it answers, and sets up the namespace. The server ends with this
 * process, even if this process is killed.
 *
 * @throws Error if a port is in use (names the port and its variable); if another server uses the folder; if no binary is found; if
 *   the server ends or doesn't answer within a minute (with the last lines of its log)
 */
export async function startEmbeddedTemporal(options: EmbeddedTemporalOptions): Promise<EmbeddedTemporal> {
  // Before the search for the binary, which may take minutes.
  if (options.port !== 0) await assertPortFree(options.port, 'TEMPORAL_PORT');
  if (options.uiPort) await assertPortFree(options.uiPort, 'TEMPORAL_UI_PORT');
  if (options.dataDir !== undefined) await assertFolderFree(options.dataDir);
  const binary = await findTemporalBinary();
  for (let start = 1; ; start++) {
    try {
      return await startServer(binary, options);
    } catch (error) {
      const taken = error instanceof Error && error.message.includes(PORT_TAKEN);
      if (!taken || start === MAX_STARTS) throw error;
    }
  }
}

/** Two servers with one database would keep taking it from each other. The port of the last one shows whether it still runs. */
async function assertFolderFree(dataDir: string): Promise<void> {
  const port = Number.parseInt(await readFile(join(dataDir, PORT_FILE), 'utf8').catch(() => ''), 10) || 0;
  if (port === 0 || (await isPortFree(port))) return;
  const problem = `${dataDir} is in use by the Temporal server on port ${port}`;
  throw new Error(`${problem}. Stop it, or set DATA_DIR to another folder.`);
}

async function startServer(binary: string, options: EmbeddedTemporalOptions) {
  const { dataDir, namespace = 'default' } = options;
  const port = options.port === 0 ? await freePort() : options.port;
  const uiPort = options.uiPort === 0 ? await freePort() : options.uiPort;
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true });
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'order-screening-temporal-')));
  const logFile = join(folder, 'temporal.log');
  const args = serverArguments(port, namespace);
  args.push(...(uiPort === undefined ? ['--headless'] : ['--ui-port', `${uiPort}`]));
  if (options.codecEndpoint !== undefined) {
    args.push(...(await secretArguments(folder, { 'ui-codec-endpoint': options.codecEndpoint })));
  }
  if (dataDir !== undefined) {
    args.push('--db-filename', join(dataDir, 'temporal.db'));
    args.push('--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1');
  }

  const log = openSync(logFile, 'w');
  const child = await startGuardedChild(binary, args, log).finally(() => closeSync(log));
  const stop = async () => {
    await child.stop();
    if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
  };
  const address = `127.0.0.1:${port}`;
  try {
    await setUpWhenReady(address, namespace, child.ended);
    if (dataDir !== undefined) await writeFile(join(dataDir, PORT_FILE), `${port}\n`);
    const uiUrl = uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`;
    return { ...child, address, namespace, uiUrl, stop };
  } catch (error) {
    const tail = await logTail(logFile);
    await stop();
    throw new Error(`${error instanceof Error ? error.message : String(error)}${tail}`, { cause: error });
  }
}

/**
 * Arguments tuned for one machine: with the defaults a decision takes 46 to 51 ms and 17 to 22 orders per second get through,
 * with these 19 ms and 103.
 */
function serverArguments(port: number, namespace: string): string[] {
  const dynamicConfig = {
    // The default of 20 polls per second and shard makes every hop of a task wait 50 ms.
    'history.transferProcessorMaxPollRPS': 10_000,
    // With four partitions about one first workflow task in a hundred waits 2 s.
    'matching.numTaskqueueReadPartitions': 1,
    'matching.numTaskqueueWritePartitions': 1,
    // Each order's record is a memo. The server warns of each one above the default of 2 KiB.
    'limit.memoSize.warn': MEMO_BYTES,
    // A run takes so many signals, and continues as new before: a worker needs 3 s for the default of 10,000, too long for a busy one.
    'history.maximumSignalsPerExecution': 2_000,
    'limit.historyCount.suggestContinueAsNew': 1_000,
  };
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', `${port}`, '--namespace', namespace],
    ...['--log-level', 'warn', '--color', 'never'],
    ...Object.entries(dynamicConfig).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
  ];
}

/** Passes options in a file, since every user of the machine can read a process's arguments. JSON is valid YAML. */
async function secretArguments(folder: string, options: Record<string, string>): Promise<string[]> {
  const file = join(folder, 'temporal-options.json');
  await writeFile(file, JSON.stringify({ env: { secret: options } }), { mode: 0o600 });
  return ['--env-file', file, '--env', 'secret'];
}

async function setUpWhenReady(address: string, namespace: string, ended: Promise<string>): Promise<void> {
  let end: string | undefined;
  void ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (end !== undefined) throw new Error(`The Temporal server ended while starting (${end}).`);
    const connection = await Connection.connect({ address, connectTimeout: 1000 }).catch(() => undefined);
    if (connection !== undefined) {
      try {
        await setupTemporal(connection, namespace);
        return await startSweep(connection, namespace);
      } finally {
        await connection.close();
      }
    }
    if (Date.now() > deadline) throw new Error('The Temporal server did not answer within a minute.');
    await sleep(100);
  }
}

async function logTail(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-5);
  return lines.join('') === '' ? '' : ` Its log ends with:\n${lines.join('\n')}`;
}
