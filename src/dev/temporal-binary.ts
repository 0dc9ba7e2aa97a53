/** Finds a Temporal server to run: on PATH, built before, downloaded, or built now. */

import { builtBefore, goBuild, type Progress, sdkDownload, streamProgress } from './go-build.ts';
import { isAtLeast, runCommand } from './guarded-child.ts';

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
