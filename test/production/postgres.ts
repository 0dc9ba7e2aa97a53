import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, freePort } from '../support/index.ts';
import { findOrInstall } from '../support/processes/debian-package.ts';

const run = promisify(execFile);

const DEBIAN = '/usr/lib/postgresql';
export const POSTGRES_USER = 'temporal';

/** The folder of the newest PostgreSQL's programs. @throws Error that says what to install */
async function programFolder(): Promise<string> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newest = versions.sort((one, other) => Number(other) - Number(one))[0];
  if (newest === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  return join(DEBIAN, newest, 'bin');
}

/** Starts PostgreSQL on a free port of loopback, in a folder that is removed with it. It refuses to run as root. */
export async function startPostgres(): Promise<{ port: number; stop(): Promise<void> }> {
  const programs = await findOrInstall('postgresql', programFolder);
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-postgres-'));
  const user = process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : undefined;
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder };
  const init = ['-D', data, '-U', POSTGRES_USER, '--auth=trust', '-E', 'UTF8'];
  await run(join(programs, 'initdb'), init, options);
  const port = await freePort();
  const args = ['-D', data, '-p', `${port}`, '-k', folder, '-h', '127.0.0.1'];
  const child = spawn(join(programs, 'postgres'), args, { ...options, stdio: 'ignore', detached: true });
  const killed = () => child.kill('SIGQUIT');
  process.once('exit', killed);
  await eventually(() => run(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', `${port}`]));
  return {
    port,
    stop: async () => {
      process.removeListener('exit', killed);
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The id of the user or the group `postgres`. */
async function idOf(flag: '-u' | '-g'): Promise<number> {
  return Number((await run('id', [flag, 'postgres'])).stdout.trim());
}
