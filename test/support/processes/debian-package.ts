import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A program that tests need, and that npm doesn't bring. */
export interface NeededProgram {
  /** As it is called; each is looked for on `PATH`. */
  commands: readonly string[];
  /** Debian's package of it, and what it needs beside. */
  debianPackages: readonly [string, ...string[]];
  /** What stands behind «install», for a person. */
  howTo: string;
}

/**
 * Makes sure that there is a program. Only continuous integration (`CI` is set) installs it, by apt-get as root.
 * @returns its path @throws Error that says what to install
 */
export async function needProgram(program: NeededProgram): Promise<string> {
  const found = await onPath(program);
  if (found !== undefined) return found;
  if (process.env.CI && process.getuid?.() === 0) await install(program.debianPackages);
  const now = await onPath(program);
  if (now === undefined) throw new Error(`${program.debianPackages[0]} is missing: install ${program.howTo}`);
  return now;
}

/**
 * Returns what `find` finds, after installing the Debian package as root, wherever it runs, if it finds nothing.
 * @throws the error of `find` if it still finds nothing
 */
export async function findOrInstall(debianPackage: string, find: () => Promise<string>): Promise<string> {
  const found = await find().catch(() => undefined);
  if (found !== undefined || process.getuid?.() !== 0) return found ?? find();
  await install([debianPackage]);
  return find();
}

async function install(debianPackages: NeededProgram['debianPackages']): Promise<void> {
  const apt = (...args: string[]) =>
    run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=60', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const one = () => apt('install', '-y', '--no-install-recommends', ...debianPackages);
  try {
    await one().catch(async () => {
      await apt('update');
      await one();
    });
    // The package may start a server of its own: nobody asked for that.
    await run('service', [debianPackages[0], 'stop']).catch(() => undefined);
  } catch {
    // No apt-get, or no way to a mirror: whoever asks is told what to install.
  }
}

async function onPath({ commands }: NeededProgram): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const files = commands.flatMap((command) => folders.map((folder) => join(folder, command)));
  for (const file of files) {
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return file;
  }
  return undefined;
}
