import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Returns the path that `find` finds, after installing the Debian package by apt-get as root if it finds none.
 * @throws the error of `find` if it still finds none
 */
export async function findOrInstall(debianPackage: string, find: () => Promise<string>): Promise<string> {
  const found = await find().catch(() => undefined);
  if (found !== undefined || process.getuid?.() !== 0) return found ?? find();
  const apt = (...args: string[]) =>
    run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=60', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  await apt('update');
  await apt('install', '-y', '--no-install-recommends', debianPackage);
  // The package starts a server of its own where it may: nobody asked for that.
  await run('service', [debianPackage, 'stop']).catch(() => undefined);
  return find();
}
