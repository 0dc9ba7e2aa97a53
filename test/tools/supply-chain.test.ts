import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readLockfile } from './lockfile.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const packages = readLockfile();

/** Licences that ask for no more than a notice, or (MPL) for the changed files of a library that isn't changed here. */
const ACCEPTED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-4.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'Unlicense',
];

/** Packages with an install script, and why it needn't run. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  '@swc/core': 'fetches a slower substitute where its binary, a package of its own, is missing',
  esbuild: 'puts its binary, a package of its own, where it starts a little faster',
  protobufjs: 'warns about version ranges',
};

describe('the packages', () => {
  it('have licences that are accepted', () => {
    for (const { name, licence } of packages) {
      expect(licence, name).toBeDefined();
      for (const part of String(licence).split(/ AND | OR /)) expect(ACCEPTED, name).toContain(part);
    }
  });

  it('run no install script, and the few that have one are known', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
    const scripted = packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name);
    expect([...new Set(scripted)].sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort());
    for (const name of scripted) expect(read('docs/dependencies.md')).toContain(`\`${name}\``);
  });

  it('are pinned: package.json names exact versions, the lockfile an integrity for each package', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
      ([name, version]) => !/^\d+\.\d+\.\d+$/.test(version) && name !== '@types/node',
    );
    expect(ranges).toEqual([]);
    // Without addresses the lockfile serves every registry, and names none.
    expect(read('package-lock.json')).not.toContain('"resolved"');
    for (const { name, integrity } of packages) expect(integrity, name).toMatch(/^sha512-/);
  });

  it('have no scripts of ours around an install', () => {
    const { scripts = {} } = JSON.parse(read('package.json')) as { scripts?: Record<string, string> };
    expect(Object.keys(scripts).filter((name) => /^(?:pre|post)|install|prepare/.test(name))).toEqual([]);
  });
});
