/** Builds the package of the client library, and packs it. */
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { libraryManifest, readManifest } from './library-manifest.ts';
import { packageOf, referencesIn } from './modules.ts';

const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const TIMEOUT_MS = 120_000;

const packed = z.array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }));

/**
 * Builds the package into a folder: compiles the files of `tsconfig.build.json` and writes a package.json. The folder has
 * the layout of an installed package.
 * @param project the folder of the project
 * @throws Error if it doesn't compile, or if package.json is invalid
 */
export async function makePackage(project: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const args = [TSC, '-p', join(project, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')];
  const built = spawnSync(process.execPath, args, { cwd: project, timeout: TIMEOUT_MS, encoding: 'utf8' });
  if (built.status !== 0) {
    throw new Error(`The client library doesn't compile:\n${built.stdout}${built.stderr}`);
  }
  const used = new Set(referencesIn(folder).flatMap(({ to }) => packageOf(to) ?? []));
  const manifest = libraryManifest(readManifest(await readFile(join(project, 'package.json'), 'utf8')), used);
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of ['README.md', 'CHANGELOG.md']) await copyFile(join(project, name), join(folder, name));
}

/**
 * Packs a folder of `makePackage` with npm.
 * @returns the file's name in `destination`, and the paths that are in it
 * @throws Error with npm's output if it fails
 */
export async function pack(folder: string, destination: string): Promise<{ file: string; paths: string[] }> {
  const result = spawnSync('npm', ['pack', '--json', '--pack-destination', destination], {
    cwd: folder,
    env: { ...process.env, npm_config_ignore_scripts: 'true', npm_config_update_notifier: 'false' },
    timeout: TIMEOUT_MS,
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(`npm pack failed:\n${result.error ?? result.stderr}`);
  const [one] = packed.parse(JSON.parse(result.stdout));
  if (one === undefined) throw new Error('npm pack named no file');
  return { file: one.filename, paths: one.files.map(({ path }) => path).sort() };
}
