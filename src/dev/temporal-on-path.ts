import { runCommand } from './run-command.ts';
import { isAtLeast } from './version.ts';

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
