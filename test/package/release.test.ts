/** `npm run release` in a small project with a git repository of its own. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCommand } from '../../src/dev/guarded-child.ts';

const MAIN = fileURLToPath(new URL('../../tools/release/main.ts', import.meta.url));
const TYPESCRIPT = new URL('../../bin/typescript.mjs', import.meta.url).href;
/** Nobody's own settings of git. */
const ENV = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };

const MANIFEST = {
  name: 'small',
  version: '1.2.0',
  private: true,
  type: 'module',
  exports: { '.': { types: './dist/starter.d.ts', default: './dist/starter.js' } },
  files: ['CHANGELOG.md', 'dist'],
  scripts: {
    docs: 'cp docs/configuration.txt docs/configuration.md; cp docs/table.txt docs/orders.md',
    licences: 'true',
    sbom: 'true',
    check: 'test ! -e ugly || { echo ugly is badly formatted; false; }',
    test: 'test ! -e broken || { echo 3 tests failed; false; }',
  },
};
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-20\n\n### Added\n\n- All of it.\n';
const FILES: Record<string, string> = {
  'package.json': JSON.stringify(MANIFEST),
  'package-lock.json': JSON.stringify({
    name: 'small',
    version: '1.2.0',
    lockfileVersion: 3,
    packages: { '': { name: 'small', version: '1.2.0' } },
  }),
  'CHANGELOG.md': CHANGELOG,
  'README.md': '# Small\n',
  'docs/configuration.md': 'PORT\n',
  'docs/configuration.txt': 'PORT\n',
  'docs/licences.md': 'MIT\n',
  'docs/orders.md': 'one row\n',
  'docs/table.txt': 'one row\n',
  'src/starter.ts': 'export const start: number = 1;\n',
  'tsconfig.build.json': JSON.stringify({
    compilerOptions: { module: 'nodenext', target: 'es2023', declaration: true, rootDir: 'src', types: [] },
    files: ['src/starter.ts'],
  }),
};

let root: string;

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function git(...args: string[]): Promise<string> {
  const { ok, output, errors } = await runCommand('git', args, { cwd: root, env: ENV, timeoutMs: 10_000 });
  if (!ok) throw new Error(errors);
  return output;
}

async function release(...args: string[]) {
  const command = ['--import', TYPESCRIPT, MAIN, ...args];
  const { output, reason } = await runCommand(process.execPath, command, {
    cwd: root,
    env: ENV,
    timeoutMs: 50_000,
  });
  return { output, reason };
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'order-screening-release-test-'));
  await write(FILES);
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'Anybody');
  await git('config', 'user.email', 'anybody@example.com');
  await git('add', '.');
  await git('commit', '--quiet', '--message=All of it');
});
afterEach(() => rm(root, { recursive: true, force: true }));

it('looks and changes nothing; asked to, it tags the commit with the notes of the version, once', async () => {
  const looked = await release();
  expect(looked.output).toMatch(/^small 1\.2\.0$/m);
  expect(looked.output).toMatch(/Ready\. npm run release -- --tag makes the tag v1\.2\.0\./);
  expect(looked.reason).toBe('');
  expect(await git('tag', '--list')).toBe('');

  expect(await release('--tag')).toMatchObject({
    reason: '',
    output: expect.stringContaining('Tagged v1.2.0'),
  });
  const tag = await git('cat-file', 'tag', 'v1.2.0');
  expect(tag).toContain(`object ${(await git('rev-parse', 'HEAD')).trim()}\n`);
  expect(tag).toMatch(/\n1\.2\.0\n\n### Added\n\n- All of it\.\n$/);
  expect(await git('status', '--porcelain')).toBe('');

  const again = await release('--tag');
  expect(again.output).toMatch(/The tag v1\.2\.0 exists already\n {4}→ Raise the version/);
  expect(again.output).toMatch(/Not ready: 1 fault\./);
  expect(again.reason).toMatch(/1/);
});

it('says every fault at once, each with what to do, and makes no tag', async () => {
  await git('switch', '--quiet', '--create', 'idea');
  const exports = { ...MANIFEST.exports, './gone': { types: './dist/gone.d.ts', default: './dist/gone.js' } };
  await write({
    'package.json': JSON.stringify({ ...MANIFEST, version: '1.3.0', exports }),
    'CHANGELOG.md': CHANGELOG.replace('[Unreleased]\n', '[Unreleased]\n\n- Something new.\n'),
    'docs/configuration.txt': 'PORT, HOST\n',
    'docs/table.txt': 'two rows\n',
    ugly: '',
    broken: '',
  });
  const { output, reason } = await release('--tag');
  for (const fault of [
    /The working tree is not clean: .*CHANGELOG\.md.*\n {4}→ Commit/,
    /The branch is idea\n {4}→ Merge it, then git switch main/,
    /CHANGELOG\.md has something under Unreleased\n {4}→ Move it under "## \[1\.3\.0\] - <date>"/,
    /CHANGELOG\.md has no section for 1\.3\.0\n {4}→ /,
    /package-lock\.json has another version than package\.json\n {4}→ Run npm install/,
    /docs\/configuration\.md is out of date\n {4}→ Run npm run docs, and commit/,
    /docs\/orders\.md is out of date\n {4}→ Run npm run docs, and commit/,
    /The package is wrong: dist\/gone\.js is missing\n {4}→ /,
    /npm run check failed .*\n {2}ugly is badly formatted\n {4}→ Run npm run check/,
    /npm run test failed .*\n {2}3 tests failed\n {4}→ /,
    /Not ready: 11 faults\./,
  ]) {
    expect(output).toMatch(fault);
  }
  expect(reason).toMatch(/1/);
  expect(await git('tag', '--list')).toBe('');
  expect(await readFile(join(root, 'docs/configuration.md'), 'utf8')).toBe('PORT\n');
  expect(await readFile(join(root, 'docs/orders.md'), 'utf8')).toBe('one row\n');
});

it('says what it takes, and what a release needs', async () => {
  expect(await release('--help')).toMatchObject({ reason: '', output: expect.stringContaining('--tag') });
  expect((await release('--publish')).reason).toMatch(/2/);
});
