import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { libraryManifest } from '../../tools/package/library-manifest.ts';
import { packageFaults } from '../package/package-faults.ts';

const MANIFEST = {
  name: 'small',
  version: '1.0.0',
  type: 'module' as const,
  exports: { '.': { types: './dist/starter.d.ts', default: './dist/starter.js' } },
  files: ['dist'],
  dependencies: { '@temporalio/client': '1.24.0', fastify: '5.0.0', zod: '4.6.7' },
};
const GOOD = {
  'package.json': JSON.stringify(MANIFEST),
  'README.md': '',
  'CHANGELOG.md': '',
  'dist/starter.js': "import { z } from 'zod';\nimport {\n  id,\n} from './ids.js';\n",
  'dist/starter.d.ts': "export type { Id } from './ids.ts';\n",
  'dist/ids.js':
    "import { createHash } from 'node:crypto';\nexport const url = new URL('./more.cjs', import.meta.url);\n",
  'dist/ids.d.ts': 'export type Id = import("@temporalio/client").Client;\n',
  'dist/more.cjs': "const { it } = require('@temporalio/common');\n",
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-screening-faults-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function faultsOf(files: Record<string, string>): string[] {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return packageFaults(folder, Object.keys(files));
}

it('finds nothing wrong with a package that has what it needs', () => {
  expect(faultsOf(GOOD)).toEqual([]);
});

it('finds what is missing: an export, a module, a module that is named by its address', () => {
  const { 'dist/starter.d.ts': _, 'dist/more.cjs': __, ...less } = GOOD;
  expect(faultsOf(less)).toEqual([
    'dist/starter.d.ts is missing',
    'dist/ids.js needs ./more.cjs, which is missing',
  ]);
});

it.each(['src/starter.ts', 'test/a.test.js', '.env', 'dist/starter.js.map', 'dist/policy.json'])(
  'finds what does not belong in it: %s',
  (path) => {
    expect(faultsOf({ ...GOOD, [path]: '' })).toEqual([`${path} doesn't belong in it`]);
  },
);

it.each([
  ['an import', 'dist/ids.js', "import { Worker } from '@temporalio/worker';", '@temporalio/worker'],
  ['an import for its effect', 'dist/ids.js', "import 'tsx/esm';", 'tsx'],
  ['an import when it is needed', 'dist/ids.js', "const load = () => import('fastify');", 'fastify'],
  ['a require', 'dist/more.cjs', "require('pino');", 'pino'],
  ['a type', 'dist/ids.d.ts', 'export type A = import("@temporalio/worker").A;', '@temporalio/worker'],
  ['a re-export', 'dist/ids.d.ts', "export * from '@temporalio/testing';", '@temporalio/testing'],
])('finds a package that must not come with it: %s', (_how, path, text, name) => {
  const faults = faultsOf({ ...GOOD, 'dist/more.cjs': '', [path]: text });
  expect(faults).toEqual([`${path} pulls in ${name}, which the client library must do without`]);
});

it('names the declarations also for compilers that read no exports', () => {
  const exports = { ...MANIFEST.exports, './more': { types: './dist/ids.d.ts', default: './dist/ids.js' } };
  expect(libraryManifest({ ...MANIFEST, exports }, new Set())).toMatchObject({
    main: './dist/starter.js',
    types: './dist/starter.d.ts',
    typesVersions: { '*': { more: ['./dist/ids.d.ts'] } },
  });
});

it('asks for what is used, of Temporal as a peer, and for nothing else', () => {
  expect(libraryManifest(MANIFEST, new Set(['zod', '@temporalio/client']))).toMatchObject({
    private: true,
    dependencies: { zod: '4.6.7' },
    peerDependencies: { '@temporalio/client': '^1.24.0' },
  });
  expect(() => libraryManifest(MANIFEST, new Set(['vitest']))).toThrow(
    'dependencies of the client library: vitest',
  );
});
