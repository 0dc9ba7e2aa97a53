import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder, in the user's cache, of what is built or downloaded once for a machine.
 * `XDG_CACHE_HOME` when it is set, `~/.cache` otherwise. The folder may not exist yet.
 */
export function userCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CACHE_HOME === undefined || env.XDG_CACHE_HOME === '' ? undefined : env.XDG_CACHE_HOME;
  return join(base ?? join(homedir(), '.cache'), 'order-screening');
}
