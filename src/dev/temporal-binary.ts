/** Finds, downloads or builds Temporal's servers. Downloads and builds stay in the user's cache. */
import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const CHECK_TIMEOUT_MS = 15_000;
/** Timeout of the download of 100 MB, which would hang behind a firewall that drops packets. */
const DOWNLOAD_TIMEOUT_MS = 180_000;
const BUILD_TIMEOUT_MS = 30 * 60_000;

const BUILD_SCRIPT = 'tools/temporal/build.sh';
const inProject = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The folder in the user's cache for builds and downloads, shared by all checkouts on the machine. It may not exist yet. */
export function userCacheDir(env = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'order-screening');
}

/**
 * Finds the dev server: `temporal` on the PATH, an earlier build, the SDK's download, or a new build. An earlier build
 * is preferred to the download, which costs three minutes per start behind a firewall that drops packets.
 *
 * @returns its path, or its name on the PATH
 * @throws Error that lists the ways to get a server, why each failed, and what to do
 */
export async function findTemporalBinary(env = process.env): Promise<string> {
  const steps = [
    () => temporalOnPath(env),
    () => run(inProject(BUILD_SCRIPT), ['--existing'], { env, timeout: CHECK_TIMEOUT_MS }),
    () => sdkDownload('dev-server', env),
    () => buildTemporal('temporal', env),
  ];
  const reasons: string[] = [];
  for (const step of steps) {
    try {
      return await step();
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  const [onPath, , download, build] = reasons;
  throw new Error(
    [
      'No Temporal server was found. Any one of these is enough:',
      '  1. TEMPORAL_ADDRESS (or a Temporal profile): not set. Set it to the address of a running server, host:port.',
      `  2. temporal on PATH: ${onPath}. Install the Temporal CLI: https://docs.temporal.io/cli`,
      `  3. The Temporal SDK's download: ${download}. Allow access to https://temporal.download`,
      `  4. A build by ${BUILD_SCRIPT}: ${build}. Install Go: https://go.dev/dl`,
    ].join('\n'),
  );
}

/**
 * Checks `temporal` on the PATH and returns the command's name.
 *
 * @throws Error with the reason: not found, doesn't run, or too old
 */
export async function temporalOnPath(env = process.env): Promise<string> {
  const output = await run('temporal', ['--version'], { env, timeout: CHECK_TIMEOUT_MS });
  const [, major, minor] = /Server (\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined) throw new Error('its output names no server version');
  // Every checkout uses Update-with-Start, which servers have from 1.28 on.
  if (Number(major) === 1 && Number(minor) < 28) {
    throw new Error(`its server ${major}.${minor} is too old; 1.28 or newer is needed`);
  }
  return 'temporal';
}

/**
 * Builds a Temporal program with Go, or finds its existing build. Processes that build at the same time don't disturb each other.
 *
 * @returns the path of the binary
 * @throws Error with the last line of the build
 */
export async function buildTemporal(
  program: 'temporal' | 'temporal-server' | 'temporal-sql-tool',
  env = process.env,
): Promise<string> {
  return run(inProject(BUILD_SCRIPT), [program], { env, timeout: BUILD_TIMEOUT_MS, showErrors: true });
}

/**
 * Downloads a server with the Temporal SDK unless it is cached: the dev server or the time-skipping test server.
 *
 * @returns the path of the binary
 * @throws Error with the reason, after at most 3 minutes
 */
export async function sdkDownload(kind: 'dev-server' | 'time-skipping', env = process.env): Promise<string> {
  // A newer SDK must not find the servers of an older one.
  const { version }: { version: string } = createRequire(import.meta.url)('@temporalio/common/package.json');
  const folder = join(userCacheDir(env), `sdk-${version}-${kind}`);
  await mkdir(folder, { recursive: true });
  // The SDK downloads to a file of this name, and waits for another process that does.
  const complete = async () => (await readdir(folder)).filter((name) => !name.endsWith('.downloading'));
  if ((await complete()).length === 0) {
    console.error(`Downloading Temporal's ${kind} …`);
    const scripts = ['bin/typescript.mjs', 'src/dev/sdk-download-main.ts'].map(inProject);
    const args = ['--import', ...scripts, kind, folder];
    await run(process.execPath, args, { env, timeout: DOWNLOAD_TIMEOUT_MS });
  }
  const [binary = ''] = await complete();
  return join(folder, binary);
}

interface RunOptions {
  env: NodeJS.ProcessEnv;
  timeout: number;
  showErrors?: boolean;
}

/** Returns the output of a command. @throws Error with the last line of its standard error */
async function run(command: string, args: string[], { showErrors, ...options }: RunOptions): Promise<string> {
  const running = promisify(execFile)(command, args, { ...options, killSignal: 'SIGKILL' });
  if (showErrors) running.child.stderr?.pipe(process.stderr, { end: false });
  try {
    return (await running).stdout.trim();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(message.trim().split('\n').at(-1), { cause: error });
  }
}
