import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const versions = z.record(z.string(), z.string()).default({});
const packageSchema = z.object({
  license: z.string().optional(),
  hasInstallScript: z.boolean().default(false),
  integrity: z.string().optional(),
});
const lockfile = z
  .object({ packages: z.record(z.string(), packageSchema) })
  .parse(JSON.parse(read('package-lock.json')));
const { '': _project, ...locked } = lockfile.packages;
const packages = Object.entries(locked).map(([place, found]) => ({
  ...found,
  name: place.replace(/^.*node_modules\//, ''),
}));
const manifest = z
  .object({ dependencies: versions, devDependencies: versions, scripts: versions })
  .parse(JSON.parse(read('package.json')));

/** Licences that ask for no more than a notice, or (MPL) for the changed files of a library that isn't changed here. */
const ACCEPTED =
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC-BY-4.0 ISC MIT MPL-2.0 Unlicense'.split(' ');
/** Packages whose licence is not in the lockfile, but in their LICENSE or Readme file. */
const LICENCES: Record<string, string> = { only: 'MIT', unionfs: 'Unlicense' };

/**
 * Packages whose install script needn't run. swc fetches a slower substitute for its missing binary, esbuild makes its binary start a
 * little faster, protobufjs warns about version ranges.
 */
const INSTALL_SCRIPTS = ['@swc/core', 'esbuild', 'protobufjs'];

it('the packages have licences that are accepted', () => {
  for (const { name, license = LICENCES[name] } of packages) {
    for (const part of String(license).split(/ AND | OR /)) expect(ACCEPTED, name).toContain(part);
  }
});

it('the packages run no install script, the few that have one are known, and the project has none', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  const scripted = packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name);
  expect([...new Set(scripted)].sort()).toEqual(INSTALL_SCRIPTS);
  for (const name of scripted) expect(read('docs/dependencies.md')).toContain(`\`${name}\``);
  const own = Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)|install|prepare/.test(name));
  expect(own).toEqual([]);
});

it('the packages are pinned: package.json names exact versions, the lockfile an integrity for each package', () => {
  const named = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  const ranges = named.filter(
    ([name, version]) => !/^\d+\.\d+\.\d+$/.test(version) && name !== '@types/node',
  );
  expect(ranges).toEqual([]);
  // Without addresses the lockfile serves every registry, and names none.
  expect(read('package-lock.json')).not.toContain('"resolved"');
  for (const { name, integrity } of packages) expect(integrity, name).toMatch(/^sha512-/);
});

it('the packages that a process installs are each imported by one', () => {
  const sources = ['src', 'bin'].flatMap((folder) =>
    readdirSync(new URL(`../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|mjs|cjs)$/.test(path))
      .map((path) => read(`${folder}/${path}`)),
  );
  const isImported = (name: string) =>
    sources.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`));
  expect(Object.keys(manifest.dependencies).filter((name) => !isImported(name))).toEqual([]);
});
