import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { exists } from './exists.ts';
import { withFileLock } from './file-lock.ts';
import type { Progress } from './progress.ts';
import { runCommand } from './run-command.ts';
import { userCacheDir } from './user-cache.ts';

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
      const result = await runCommand(process.execPath, ['--import', 'tsx', script, kind, folder], {
        cwd: fileURLToPath(new URL('../../', import.meta.url)),
        env,
        timeoutMs: TIMEOUT_MS,
      });
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
