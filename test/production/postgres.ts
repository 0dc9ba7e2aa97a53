import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, freePort } from '../support/index.ts';

const run = promisify(execFile);

const DEBIAN = '/usr/lib/postgresql';
export const POSTGRES_USER = 'temporal';

/** A PostgreSQL of its own on loopback. */
interface PostgresServer {
  port: number;
  stop(): Promise<void>;
}

/**
 * The folder of PostgreSQL's programs, installed by apt-get as root where they are missing.
 * @throws Error that says what to install
 */
async function postgresPrograms(): Promise<string> {
  const found = await installedPrograms();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0) {
    const apt = (...args: string[]) =>
      run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=60', ...args], {
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      });
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', 'postgresql');
    // The package starts a server of its own where it may: nobody asked for that.
    await run('service', ['postgresql', 'stop']).catch(() => undefined);
  }
  const installed = await installedPrograms();
  if (installed === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  return installed;
}

async function installedPrograms(): Promise<string | undefined> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newest = versions.sort((one, other) => Number(other) - Number(one))[0];
  return newest === undefined ? undefined : join(DEBIAN, newest, 'bin');
}

/** Starts PostgreSQL on a free port, in a folder that is removed with it. It refuses to run as root. */
export async function startPostgres(): Promise<PostgresServer> {
  const programs = await postgresPrograms();
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-postgres-'));
  const user = process.getuid?.() === 0 ? await idsOf('postgres') : undefined;
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder };
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-U', POSTGRES_USER, '--auth=trust', '-E', 'UTF8'],
    options,
  );
  const port = await freePort();
  const args = ['-D', data, '-p', `${port}`, '-k', folder, '-h', '127.0.0.1'];
  const child = spawn(join(programs, 'postgres'), args, { ...options, stdio: 'ignore', detached: true });
  const killed = () => child.kill('SIGQUIT');
  process.once('exit', killed);
  await eventually(() =>
    run(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', `${port}`]).then(() => true),
  );
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

async function idsOf(name: string): Promise<{ uid: number; gid: number }> {
  const id = async (flag: string) => Number((await run('id', [flag, name])).stdout.trim());
  return { uid: await id('-u'), gid: await id('-g') };
}
