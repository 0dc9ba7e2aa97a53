/** The packed file in the project of an order service, with the packages it asks for and no other. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readManifest } from '../../tools/package/library-manifest.ts';
import { makePackage, pack } from '../../tools/package/make-package.ts';
import { packageOf, referencesIn } from '../../tools/package/modules.ts';
import { CONSUMER, WRITTEN } from './consumer-source.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const IN_TEMPORAL = /^\S*node_modules\/@temporalio\//;
/** What an order service installs with the client library. Another one is a decision: each comes into somebody's process. */
const MAY_PULL_IN = [
  ...['client', 'common', 'envconfig', 'proto', 'workflow'].map((name) => `@temporalio/${name}`),
  ...['http-proxy-agent', 'https-proxy-agent', 'node-fetch', 'proxy-from-env', 'redis'],
  ...['safe-stable-stringify', 'zod'],
];

const versions = z.record(z.string(), z.string());
const dependencies = { dependencies: versions, peerDependencies: versions };
const manifestSchema = z.looseObject({ version: z.string(), ...dependencies });

let folder: string;
let made: string;
let paths: string[];
let manifest: z.infer<typeof manifestSchema>;

function run(cwd: string, command: string, args: string[], env: NodeJS.ProcessEnv = process.env) {
  return spawnSync(command, args, { cwd, env, timeout: 60_000, encoding: 'utf8' });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'order-screening-consumer-'));
  made = join(folder, 'made');
  await makePackage(ROOT, made);
  const packed = await pack(made, folder);
  paths = packed.paths;
  const modules = join(folder, 'node_modules');
  const installed = join(modules, 'order-screening');
  await mkdir(installed, { recursive: true });
  expect(run(folder, 'tar', ['-xzf', packed.file, '-C', installed, '--strip-components=1']).status).toBe(0);
  manifest = manifestSchema.parse(JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')));
  // No registry is asked: what npm would install is linked. Any other package isn't found from here.
  const wanted = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies, '@types/node': '' });
  for (const name of wanted) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed file', () => {
  it('holds what it should and nothing else, no worker, and pulls in known packages only', async () => {
    const pages = ['package.json', 'README.md', 'CHANGELOG.md'];
    const { exports } = readManifest(await readFile(join(made, 'package.json'), 'utf8'));
    const targets = Object.values(exports).flatMap((to) => (typeof to === 'string' ? to : Object.values(to)));
    const needed = [...pages, ...targets.map(posix.normalize), 'dist/codec/failure-converter.cjs'];
    expect(paths).toEqual(expect.arrayContaining(needed));
    const code = paths.filter((path) => !pages.includes(path));
    expect(code.filter((path) => !/^dist\/.+\.(?:js|cjs|d\.ts|d\.cts)$/.test(path))).toEqual([]);
    expect(code.filter((path) => /workflows|activities|worker|sandbox|api\//.test(path))).toEqual([]);
    for (const { from, to } of referencesIn(made)) {
      const name = packageOf(to);
      if (name !== undefined) expect(MAY_PULL_IN, from).toContain(name);
      const path = posix.join(posix.dirname(from), to);
      // A declaration names the source that it was made of.
      if (to.startsWith('.'))
        expect(paths.includes(path) || paths.includes(path.replace(/\.([cm]?)[jt]s$/, '.d.$1ts')), to).toBe(
          true,
        );
    }
  });

  it('asks for the packages that the build refers to, in the versions of the project', async () => {
    const project = z
      .object({ version: z.string(), dependencies: versions })
      .parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
    const asked = { ...manifest.dependencies, ...manifest.peerDependencies };
    expect(Object.keys(asked).sort()).toEqual(MAY_PULL_IN);
    for (const [name, range] of Object.entries(asked)) {
      expect(range.replace('^', ''), name).toBe(project.dependencies[name]);
    }
    expect(manifest).toMatchObject({ private: true, version: project.version });
    for (const field of ['scripts', 'devDependencies', 'bin', 'overrides'])
      expect(manifest).not.toHaveProperty(field);
  });
});

describe.concurrent('the project of an order service compiles strictly, declarations included, and runs', () => {
  it.each([
    ['ES modules', 'module', 'nodenext', 'nodenext'],
    ['CommonJS', 'commonjs', 'nodenext', 'nodenext'],
    ['CommonJS as a bundler resolves', 'commonjs', 'commonjs', 'bundler'],
  ])('%s', async (name, type, module, moduleResolution) => {
    const project = join(folder, name.replaceAll(' ', '-'));
    await mkdir(project);
    await writeFile(join(project, 'package.json'), JSON.stringify({ type }));
    await writeFile(join(project, 'consumer.ts'), CONSUMER);
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
    const compilerOptions = { target: 'es2023', module, moduleResolution, types: ['node'], ...strict };
    const settings = JSON.stringify({ compilerOptions, files: ['consumer.ts'] });
    await writeFile(join(project, 'tsconfig.json'), settings);

    const { stdout } = run(project, process.execPath, [TSC, '-p', '.']);
    // Temporal's own declarations have faults, for whoever looks into those of libraries.
    const faults = stdout.split('\n').filter((line) => /error TS/.test(line) && !IN_TEMPORAL.test(line));
    expect(faults).toEqual([]);
    const compiled = await readFile(join(project, 'consumer.js'), 'utf8');
    expect(compiled.includes('require("order-screening")')).toBe(type === 'commonjs');

    const ran = run(project, process.execPath, ['consumer.js'], {
      PATH: process.env.PATH,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      SCREENING_BASE_URL: 'http://127.0.0.1:1/test',
      SCREENING_PORTAL_BASE_URL: 'http://127.0.0.1:1/portal',
      PAYLOAD_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    });
    expect(ran.stderr).toBe('');
    expect(JSON.parse(ran.stdout)).toEqual(WRITTEN);
  });
});
