/** The code of the last release, beside that of this folder. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { runCommand } from '../../src/dev/guarded-child.ts';

/**
 * Stands for the last release as long as there is no tag: the last commit that changed what an order does without a number of its own.
 * With the first tag it goes.
 */
const BEFORE_THE_FIRST_TAG = '3a60482129771eaf5ffd87be28a8973d9eaca6f4';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What its processes need of it. */
const CODE = ['src', 'package.json', 'package-lock.json', 'tsconfig.json'];
const WITHIN_MS = 300_000;

export interface LastRelease {
  /** Its tag, or the commit that stands for it. */
  name: string;
  folder: string;
  /** The ids of `patched()` that today's workflows have and its don't. */
  newPatches: string[];
  remove(): Promise<void>;
}

/**
 * Lays the code of the last release out in a folder: that of the newest tag, until there is one that of a commit. It has the
 * dependencies of this folder where its lockfile names the same ones, else its own.
 *
 * @throws Error that says what to do, when this clone doesn't have the commit
 */
export async function lastRelease(): Promise<LastRelease> {
  const name = (await git('describe', '--tags', '--abbrev=0', '--match', 'v*')) ?? BEFORE_THE_FIRST_TAG;
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-last-release-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, 'code.tar');
    if ((await git('archive', '--output', archive, name, ...CODE)) === undefined) {
      throw new Error(
        `The last release, ${name}, isn't in this clone: git fetch --tags --unshallow, or clone it whole`,
      );
    }
    await run('tar', ['-xf', archive], folder);
    if (await hasTheSameDependencies(folder)) await linkDependencies(folder);
    else await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
    const known = await patchesOf(folder);
    const newPatches = (await patchesOf(ROOT)).filter((id) => !known.includes(id));
    return { name, folder, newPatches, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** @returns what git wrote, or undefined when it refused */
async function git(...args: string[]): Promise<string | undefined> {
  const { ok, output } = await runCommand('git', args, { cwd: ROOT, timeoutMs: WITHIN_MS });
  return ok ? output.trim() : undefined;
}

async function run(command: string, args: string[], cwd: string): Promise<void> {
  const { ok, errors, reason } = await runCommand(command, args, { cwd, timeoutMs: WITHIN_MS });
  if (!ok) throw new Error(`${command} ${args.join(' ')}: ${reason}\n${errors}`);
}

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), dev: z.boolean().optional() })),
});

async function hasTheSameDependencies(folder: string): Promise<boolean> {
  const dependencies = async (of: string) => {
    const lock = lockSchema.parse(JSON.parse(await readFile(join(of, 'package-lock.json'), 'utf8')));
    const entries = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);
    return Object.fromEntries(entries.map(([path, { version }]) => [path, version]));
  };
  return isDeepStrictEqual(await dependencies(ROOT), await dependencies(folder));
}

/** One by one, since a cache of ours is in there, too. */
async function linkDependencies(folder: string): Promise<void> {
  const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')];
  await mkdir(to);
  for (const name of await readdir(from)) {
    if (name !== '.cache') await symlink(join(from, name), join(to, name));
  }
}

async function patchesOf(folder: string): Promise<string[]> {
  const workflows = join(folder, 'src/workflows');
  const texts = (await readdir(workflows)).map((file) => readFile(join(workflows, file), 'utf8'));
  return (await Promise.all(texts)).flatMap((text) =>
    [...text.matchAll(/\bpatched\('([^']+)'/g)].map(([, id = '']) => id),
  );
}
