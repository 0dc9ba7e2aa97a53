/** Where the dev server's binary comes from: built by Go, or downloaded by the SDK, once for a machine; and how that is told. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { exists, withFileLock } from '../process/local.ts';
import { isAtLeast, runCommand } from './guarded-child.ts';

const CLI_MODULE = 'github.com/temporalio/cli';

/** What can be built from the module: its package, the binary's name, and what a person calls it. */
const PROGRAMS = {
  'dev-server': {
    packagePath: `${CLI_MODULE}/cmd/temporal`,
    binary: 'temporal',
    words: 'Temporal server',
  },
  server: {
    packagePath: 'go.temporal.io/server/cmd/server',
    binary: 'temporal-server',
    words: 'Temporal cluster’s server',
  },
  'sql-tool': {
    packagePath: 'go.temporal.io/server/cmd/tools/sql',
    binary: 'temporal-sql-tool',
    words: 'Temporal SQL tool',
  },
} as const;

/** The dev server; the server of a cluster; the tool that sets up the cluster's database. */
export type TemporalProgram = keyof typeof PROGRAMS;
const MODULE_FOLDER = fileURLToPath(new URL('../../tools/temporal/', import.meta.url));
const BUILD_TIMEOUT_MS = 30 * 60_000;
const VERSION_TIMEOUT_MS = 30_000;

/**
 * The path of a program of Temporal's, the dev server unless named, built from the Go module pinned in `tools/temporal/`.
 *
 * It is built once, into the user's cache, under a name made of the pinned version and a hash of the pins: two to
 * three minutes on two cores, and 400 MB of Go modules to download. A second process waits for the first.
 *
 * @throws Error with the reason in words: no Go, a Go that is too old, or the build's own last lines
 */
export async function goBuild(
  progress: Progress,
  env = process.env,
  program: TemporalProgram = 'dev-server',
): Promise<string> {
  const { folder, binary, goVersion } = await kept(program, env);
  if (await exists(binary)) return binary;
  await checkGo(goVersion, env);
  return withFileLock(
    `${folder}.lock`,
    async () => {
      if (await exists(binary)) return binary;
      await mkdir(folder, { recursive: true });
      await build(program, binary, progress, env);
      return binary;
    },
    () => progress.say('Another process is building the Temporal server; waiting for it …'),
  );
}

/**
 * The path of the dev server that an earlier `goBuild` of the same pins left in the user's cache.
 *
 * @throws Error when there is none
 */
export async function builtBefore(env = process.env): Promise<string> {
  const { binary } = await kept('dev-server', env);
  if (await exists(binary)) return binary;
  throw new Error('not built yet');
}

/** Where a build of the pinned module is kept, and the Go that it needs. */
async function kept(
  program: TemporalProgram,
  env: NodeJS.ProcessEnv,
): Promise<{ folder: string; binary: string; goVersion: string }> {
  const { version, goVersion, hash } = await readPins();
  const folder = join(userCacheDir(env), `temporal-${version}-${hash}`);
  const name = PROGRAMS[program].binary;
  return { folder, binary: join(folder, process.platform === 'win32' ? `${name}.exe` : name), goVersion };
}

async function build(
  program: TemporalProgram,
  binary: string,
  progress: Progress,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { packagePath, words } = PROGRAMS[program];
  const unfinished = `${binary}.${process.pid}`;
  const started = Date.now();
  const seen = { downloaded: 0, compiled: 0, latest: '' };
  progress.say(
    `Building the ${words} from source with Go. The first build takes a few minutes; it is kept after that.`,
  );
  const ticker = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    progress.tick(
      `  ${seconds} s: ${seen.downloaded} modules downloaded, ${seen.compiled} packages compiled ${seen.latest}`,
    );
  }, 1000);
  try {
    // -v names each package as it is compiled. Stamping the checkout's version into the binary fails where the
    // checkout belongs to another user, and says nothing about the server.
    const args = ['build', '-v', '-buildvcs=false', '-ldflags=-s -w', '-o', unfinished, packagePath];
    const result = await runCommand('go', args, {
      cwd: MODULE_FOLDER,
      env,
      timeoutMs: BUILD_TIMEOUT_MS,
      onErrorLine: (line) => {
        if (line.startsWith('go: downloading ')) seen.downloaded += 1;
        else seen.compiled += 1;
        seen.latest = line.slice(line.lastIndexOf('/') + 1);
      },
    });
    if (!result.ok) {
      throw new Error(`go build ${result.reason}: ${result.errors.trim().split('\n').slice(-5).join('\n')}`);
    }
    await rename(unfinished, binary);
  } finally {
    clearInterval(ticker);
    await rm(unfinished, { force: true });
  }
  progress.say(`Built the ${words} in ${Math.round((Date.now() - started) / 1000)} s.`);
}

async function checkGo(needed: string, env: NodeJS.ProcessEnv): Promise<void> {
  // Outside the module, since there a Go that is too old would first try to download a newer one.
  const result = await runCommand('go', ['env', 'GOVERSION'], {
    cwd: tmpdir(),
    env,
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  if (!result.ok)
    throw new Error(result.reason === 'not found' ? `Go is not installed` : `go ${result.reason}`);
  const found = result.output.trim().replace(/^go/, '');
  if (!isAtLeast(found, needed)) {
    throw new Error(`Go ${found} is too old; ${needed} or newer is needed (see https://go.dev/dl)`);
  }
}

async function readPins(): Promise<{ version: string; goVersion: string; hash: string }> {
  const goMod = await readFile(join(MODULE_FOLDER, 'go.mod'), 'utf8');
  const goSum = await readFile(join(MODULE_FOLDER, 'go.sum'), 'utf8');
  const version = /github\.com\/temporalio\/cli v(\S+)/.exec(goMod)?.[1];
  const goVersion = /^go (\S+)$/m.exec(goMod)?.[1];
  if (version === undefined || goVersion === undefined) {
    throw new Error('tools/temporal/go.mod names no CLI version or no Go version');
  }
  const hash = createHash('sha256').update(goMod).update(goSum).digest('hex').slice(0, 12);
  return { version, goVersion, hash };
}

/** Which of the SDK's two servers: Temporal's dev server (the CLI), or the one that skips time. */
export type SdkServer = 'dev-server' | 'time-skipping';

// The download is 100 MB; behind a closed network it fails at once, behind a silent firewall only by this.
const TIMEOUT_MS = 180_000;

/**
 * The path of a server that the Temporal SDK downloads, from the user's cache once it is there.
 *
 * @throws Error with the reason in words when it can't be downloaded, within 3 minutes
 */
export async function sdkDownload(kind: SdkServer, progress: Progress, env = process.env): Promise<string> {
  const cache = join(userCacheDir(env), `sdk-${sdkVersion()}`);
  const target = join(cache, kind);
  if (await exists(target)) return target;
  return withFileLock(`${target}.lock`, async () => {
    if (await exists(target)) return target;
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(`${target}-`);
    const started = Date.now();
    const ticker = setInterval(() => {
      progress.tick(`Downloading Temporal's ${kind} … ${Math.round((Date.now() - started) / 1000)} s`);
    }, 1000);
    try {
      const script = fileURLToPath(new URL('./sdk-download-main.ts', import.meta.url));
      const result = await runCommand(
        process.execPath,
        ['--import', './bin/typescript.mjs', script, kind, folder],
        {
          cwd: fileURLToPath(new URL('../../', import.meta.url)),
          env,
          timeoutMs: TIMEOUT_MS,
        },
      );
      if (!result.ok) throw new Error(inWords(result.errors, result.reason));
      await rename(result.output.trim(), target);
      return target;
    } finally {
      clearInterval(ticker);
      await rm(folder, { recursive: true, force: true });
    }
  });
}

function inWords(errors: string, reason: string): string {
  if (/dns error|client error \(Connect\)|Connection refused/i.test(errors)) {
    return 'the download site cannot be reached';
  }
  if (/Cannot find package '@temporalio\/testing'/.test(errors))
    return '@temporalio/testing is not installed';
  const line = errors.split('\n').find((text) => /Error: /.test(text));
  return line?.trim() ?? reason;
}

/** The servers the SDK downloads go with its version, so a newer SDK must not find an older one's. */
function sdkVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('@temporalio/common/package.json');
  return z.object({ version: z.string() }).parse(manifest).version;
}

/**
 * The folder, in the user's cache, of what is built or downloaded once for a machine.
 * `XDG_CACHE_HOME` when it is set, `~/.cache` otherwise. The folder may not exist yet.
 */
export function userCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CACHE_HOME === undefined || env.XDG_CACHE_HOME === '' ? undefined : env.XDG_CACHE_HOME;
  return join(base ?? join(homedir(), '.cache'), 'order-screening');
}

// It takes minutes: a person is told that it moves.

/** Tells a person what takes long: whole lines, and one line that moves. */
export interface Progress {
  /** Prints a line that stays. */
  say(line: string): void;
  /** Replaces the moving line; where lines can't be replaced it prints one every 15 seconds. */
  tick(text: string): void;
}

const PLAIN_INTERVAL_MS = 15_000;

/** Progress on a stream, standard error unless told otherwise: standard output is left to results. */
export function streamProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let moving = false;
  let lastPlain = Date.now();
  const clear = () => {
    if (moving) stream.write('\r\x1b[2K');
    moving = false;
  };
  return {
    say(line) {
      clear();
      stream.write(`${line}\n`);
      lastPlain = Date.now();
    },
    tick(text) {
      if (stream.isTTY) {
        clear();
        stream.write(text.slice(0, Math.max(20, (stream.columns ?? 80) - 1)));
        moving = true;
      } else if (Date.now() - lastPlain >= PLAIN_INTERVAL_MS) {
        stream.write(`${text}\n`);
        lastPlain = Date.now();
      }
    },
  };
}
