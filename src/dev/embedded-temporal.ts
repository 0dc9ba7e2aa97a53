/** Temporal's dev server as a child of this process, and where its binary is found: on PATH, built before, downloaded, or built now. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { MEMO_BYTES } from '../orders/bounded-record.ts';
import { setupTemporal, startSweep } from '../temporal/namespace.ts';
import { builtBefore, goBuild, type Progress, sdkDownload, streamProgress } from './go-build.ts';
import {
  assertPortFree,
  freePort,
  type GuardedChild,
  isAtLeast,
  runCommand,
  startGuardedChild,
} from './guarded-child.ts';

export interface EmbeddedTemporalOptions {
  /** Port of the server on 127.0.0.1; 0 takes a free one. */
  port: number;
  /** Port of the Temporal UI; 0 takes a free one, absent means no UI. */
  uiPort?: number;
  /** Folder of `temporal.db` and `temporal.log`. Absent: state in memory, and the log is deleted with the server. */
  dataDir?: string;
  /** Namespace that is made and set up; `default` unless given. */
  namespace?: string;
  /** Address of the codec endpoint that the UI decrypts payloads with. */
  codecEndpoint?: string;
  /** Where the search for the binary, which may build it, says how far it is. */
  progress?: Progress;
}

/** A running Temporal dev server. */
export interface EmbeddedTemporal {
  /** `host:port` for Temporal clients. */
  address: string;
  namespace: string;
  /** Address of the Temporal UI, when it was asked for. */
  uiUrl?: string;
  /** Process id of the server's process group. */
  pid: number;
  /** What went wrong in the set-up without stopping it, in words. */
  warnings: string[];
  /** Sends a signal to the server; SIGKILL is the crash that tests want. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the server's process has ended, with how in words. */
  ended: Promise<string>;
  /** Stops the server and waits for its end. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;

/**
 * Beside the ports that it is given the server picks some for itself, and another program may have one of them before the
 * server listens on it. It picks others the next time.
 */
const STARTS = 3;
const PORT_TAKEN = 'address already in use';

/**
 * Starts Temporal's dev server on 127.0.0.1, waits until it answers, and sets the namespace up (`setupTemporal`). It
 * ends when this process ends, in whatever way.
 *
 * @throws Error naming the port and its variable when a port is taken; when no binary is found; or with the last
 *   lines of the log when the server ends or doesn't answer within a minute
 */
export async function startEmbeddedTemporal(options: EmbeddedTemporalOptions): Promise<EmbeddedTemporal> {
  // Before the search, which may take minutes to end in a port that was taken all along.
  if (options.port !== 0) await assertPortFree(options.port, 'TEMPORAL_PORT');
  if (options.uiPort) await assertPortFree(options.uiPort, 'TEMPORAL_UI_PORT');
  const binary = await findTemporalBinary(options.progress ? { progress: options.progress } : {});
  for (let start = 1; ; start++) {
    try {
      return await startServer(binary, options);
    } catch (error) {
      const taken = error instanceof Error && error.message.includes(PORT_TAKEN);
      if (!taken || start === STARTS) throw error;
    }
  }
}

async function startServer(binary: string, options: EmbeddedTemporalOptions): Promise<EmbeddedTemporal> {
  const { dataDir, namespace = 'default' } = options;
  const port = options.port === 0 ? await freePort() : options.port;
  const uiPort = options.uiPort === 0 ? await freePort() : options.uiPort;
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true });
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'order-screening-temporal-')));
  const logFile = join(folder, 'temporal.log');
  const optionsFile = join(folder, 'temporal-options.json');
  await writeFile(optionsFile, secretOptions(options), { mode: 0o600 });

  const log = openSync(logFile, 'w');
  const child = await startGuardedChild(
    binary,
    temporalArguments({
      port,
      namespace,
      ...(uiPort !== undefined && { uiPort }),
      ...(dataDir !== undefined && { dbFile: join(dataDir, 'temporal.db') }),
      optionsFile,
    }),
    log,
  ).finally(() => closeSync(log));

  const address = `127.0.0.1:${port}`;
  const stop = async () => {
    await stopChild(child);
    if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    const warnings = await setUpWhenReady(address, namespace, child.ended);
    return {
      address,
      namespace,
      ...(uiPort !== undefined && { uiUrl: `http://127.0.0.1:${uiPort}` }),
      pid: child.pid,
      warnings,
      kill: child.kill,
      ended: child.ended,
      stop,
    };
  } catch (error) {
    const tail = await logTail(logFile);
    await stop();
    throw new Error(`${error instanceof Error ? error.message : String(error)}${tail}`, { cause: error });
  }
}

async function setUpWhenReady(address: string, namespace: string, ended: Promise<string>): Promise<string[]> {
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
        const warnings = await setupTemporal(connection, namespace);
        await startSweep(connection, namespace);
        return warnings;
      } finally {
        await connection.close();
      }
    }
    if (Date.now() > deadline) throw new Error('The Temporal server did not answer within a minute.');
    await sleep(100);
  }
}

async function stopChild(child: GuardedChild): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await child.ended;
  clearTimeout(timer);
}

async function logTail(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-5);
  return lines.join('') === '' ? '' : ` Its log ends with:\n${lines.join('\n')}`;
}

/** What the embedded server is to be. Without `dbFile` it keeps its state in memory; without `uiPort` it has no UI. */
interface TemporalServerShape {
  port: number;
  namespace: string;
  uiPort?: number;
  dbFile?: string;
  optionsFile: string;
}

/** The options that nobody else on the machine may read, as arguments can be: a file that the CLI takes them from. It is YAML, as JSON is. */
function secretOptions({ codecEndpoint }: EmbeddedTemporalOptions): string {
  const secret = codecEndpoint === undefined ? {} : { 'ui-codec-endpoint': codecEndpoint };
  return JSON.stringify({ env: { [OPTIONS_OF]: secret } });
}

/** The part of the file of options that is ours. */
const OPTIONS_OF = 'order-screening';

/**
 * The CLI's arguments for `server start-dev`, tuned for a file on one machine: with the defaults a decision takes
 * 46 to 51 ms and 17 to 22 orders a second get through, with these 19 ms and 103.
 */
function temporalArguments(shape: TemporalServerShape): string[] {
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(shape.port)];
  args.push('--namespace', shape.namespace, '--log-level', 'warn', '--color', 'never');
  // The default of 20 polls a second and shard makes every hop of a task wait 50 ms.
  args.push('--dynamic-config-value', 'history.transferProcessorMaxPollRPS=10000');
  // With four partitions about one first workflow task in a hundred waits 2 s.
  args.push('--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1');
  args.push('--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1');
  // Each order's record is a memo. With the default of 2 KiB each larger one is a warning.
  args.push('--dynamic-config-value', `limit.memoSize.warn=${MEMO_BYTES}`);
  if (shape.uiPort === undefined) args.push('--headless');
  else args.push('--ui-port', String(shape.uiPort));
  args.push('--env-file', shape.optionsFile, '--env', OPTIONS_OF);
  if (shape.dbFile !== undefined) {
    args.push('--db-filename', shape.dbFile);
    args.push('--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1');
  }
  return args;
}

// Where the binary is found.

/** One way to the binary: its path, or an Error that says in words why this way is closed. */
export type TemporalStep = (progress: Progress, env: NodeJS.ProcessEnv) => Promise<string>;

/** The ways to the binary, in the order in which they are tried. */
export interface TemporalSteps {
  path: TemporalStep;
  builtBefore: TemporalStep;
  sdkDownload: TemporalStep;
  goBuild: TemporalStep;
}

export interface FindTemporalOptions {
  env?: NodeJS.ProcessEnv;
  progress?: Progress;
  /** Tests give their own. */
  steps?: TemporalSteps;
}

const realSteps: TemporalSteps = {
  path: (_progress, env) => temporalOnPath(env),
  builtBefore: (_progress, env) => builtBefore(env),
  sdkDownload: (progress, env) => sdkDownload('dev-server', progress, env),
  goBuild,
};

/**
 * Finds the binary of Temporal's dev server: `temporal` on PATH, then the SDK's download, then a build from the
 * pinned Go module. What is downloaded or built stays in the user's cache. Where one was built before, no download is
 * tried: behind a silent firewall each start would wait for it. A caller that has `TEMPORAL_ADDRESS` or a Temporal
 * profile needs no binary and doesn't ask.
 *
 * @returns its path, or its name on PATH
 * @throws Error that names all four ways to a Temporal server, why each failed, and what to do
 */
export async function findTemporalBinary(options: FindTemporalOptions = {}): Promise<string> {
  const { env = process.env, progress = streamProgress(), steps = realSteps } = options;
  const reasons = { path: '', builtBefore: '', sdkDownload: '', goBuild: '' };
  for (const step of ['path', 'builtBefore', 'sdkDownload', 'goBuild'] as const) {
    try {
      return await steps[step](progress, env);
    } catch (error) {
      reasons[step] = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Error(
    [
      'No Temporal server was found. Any one of these is enough:',
      '  1. TEMPORAL_ADDRESS (or a Temporal profile): not set. Set it to the address of a running server, host:port.',
      `  2. temporal on PATH: ${reasons.path}. Install the Temporal CLI: https://docs.temporal.io/cli`,
      `  3. The Temporal SDK's download: ${reasons.sdkDownload}. Allow access to https://temporal.download`,
      `  4. A build from tools/temporal with Go: ${reasons.goBuild}. Install Go: https://go.dev/dl`,
    ].join('\n'),
  );
}

/** The oldest server with Update-with-Start switched on, which every checkout uses. */
const OLDEST_SERVER = '1.28';
const TIMEOUT_MS = 15_000;

/**
 * `temporal` on PATH, when it runs and its server is new enough; returns the command's name.
 *
 * @throws Error with the reason in words: not found, doesn't run, or too old
 */
export async function temporalOnPath(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const result = await runCommand('temporal', ['--version'], { env, timeoutMs: TIMEOUT_MS });
  if (!result.ok) throw new Error(result.reason);
  const server = /Server (\d[\w.-]*)/.exec(result.output)?.[1];
  if (server === undefined) throw new Error('it runs, but does not say which server it has');
  if (!isAtLeast(server, OLDEST_SERVER)) {
    throw new Error(`its server ${server} is too old; ${OLDEST_SERVER} or newer is needed`);
  }
  return 'temporal';
}
