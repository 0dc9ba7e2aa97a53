/** Finds, downloads or builds Temporal's servers. Downloads and builds stay in the user's cache. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from '../process/local.ts';
import { runCommand } from './guarded-child.ts';

const VERSION_TIMEOUT_MS = 15_000;
/** The download is 100 MB. Behind a firewall that drops packets only this ends it. */
const DOWNLOAD_TIMEOUT_MS = 180_000;
const BUILD_TIMEOUT_MS = 30 * 60_000;

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const BUILD_SCRIPT = 'tools/temporal/build.sh';

/** The folder in the user's cache for what is built or downloaded once per machine. It may not exist yet. */
export function userCacheDir(env = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'order-screening');
}

/**
 * Finds the dev server: `temporal` on the PATH, an earlier build, the SDK's download, or a new build. An earlier build
 * comes before the download, which costs three minutes per start behind a firewall that drops packets.
 *
 * @returns its path, or its name on the PATH
 * @throws Error that lists the ways to get a server, why each failed, and what to do
 */
export async function findTemporalBinary(env = process.env): Promise<string> {
  const steps = [
    () => temporalOnPath(env),
    () => existingBuild(env),
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
  const { ok, output, reason } = await runCommand('temporal', ['--version'], {
    env,
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  if (!ok) throw new Error(reason);
  const [, major, minor] = /Server (\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined) throw new Error('its output names no server version');
  // Every checkout uses Update-with-Start, which servers have from 1.28 on.
  if (Number(major) === 1 && Number(minor) < 28) {
    throw new Error(`its server ${major}.${minor} is too old; 1.28 or newer is needed`);
  }
  return 'temporal';
}

async function existingBuild(env: NodeJS.ProcessEnv): Promise<string> {
  const { ok, output } = await runCommand(join(PROJECT, BUILD_SCRIPT), ['--existing'], {
    env,
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  if (!ok) throw new Error('not built yet');
  return output.trim();
}

/**
 * Builds a Temporal program with Go, or finds its existing build. A second process waits for the first.
 *
 * @returns the path of the binary
 * @throws Error with the last lines of the build
 */
export async function buildTemporal(
  program: 'temporal' | 'temporal-server' | 'temporal-sql-tool',
  env = process.env,
): Promise<string> {
  return withFileLock(
    join(userCacheDir(env), 'build.lock'),
    async () => {
      const { ok, output, errors, reason } = await runCommand(join(PROJECT, BUILD_SCRIPT), [program], {
        env,
        timeoutMs: BUILD_TIMEOUT_MS,
        showErrors: true,
      });
      if (!ok) throw new Error(`${reason}: ${errors.trim().split('\n').slice(-5).join('\n')}`);
      return output.trim();
    },
    () => console.error('Waiting for another process that builds Temporal …'),
  );
}

/**
 * Downloads a server as the Temporal SDK does, unless the cache has it: the dev server, or the one that skips time.
 *
 * @returns the path of the binary
 * @throws Error with the reason, after at most 3 minutes
 */
export async function sdkDownload(kind: 'dev-server' | 'time-skipping', env = process.env): Promise<string> {
  // A newer SDK must not find the servers of an older one.
  const { version }: { version: string } = createRequire(import.meta.url)('@temporalio/common/package.json');
  const cache = join(userCacheDir(env), `sdk-${version}`);
  const target = join(cache, kind);
  if (existsSync(target)) return target;
  return withFileLock(`${target}.lock`, async () => {
    if (existsSync(target)) return target;
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(`${target}-`);
    console.error(`Downloading Temporal's ${kind} …`);
    try {
      const script = fileURLToPath(new URL('./sdk-download-main.ts', import.meta.url));
      const args = ['--import', './bin/typescript.mjs', script, kind, folder];
      const { ok, output, errors, reason } = await runCommand(process.execPath, args, {
        cwd: PROJECT,
        env,
        timeoutMs: DOWNLOAD_TIMEOUT_MS,
      });
      if (!ok) throw new Error(downloadFailure(errors) ?? reason);
      await rename(output.trim(), target);
      return target;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

function downloadFailure(errors: string): string | undefined {
  if (/dns error|client error \(Connect\)|Connection refused/i.test(errors)) {
    return 'the download site cannot be reached';
  }
  return /^.*Error: .*$/m.exec(errors)?.[0].trim();
}
