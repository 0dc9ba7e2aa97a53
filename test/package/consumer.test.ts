/** The packed file in the project of an order service, with the packages it asks for and no other. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makePackage, pack } from '../../tools/package/make-package.ts';
import { CONSUMER, WRITTEN } from './consumer-source.ts';
import { MAY_PULL_IN, packageFaults } from './package-faults.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

const manifestSchema = z.looseObject({
  version: z.string(),
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()),
});

const IN_TEMPORAL = /^\S*node_modules\/@temporalio\//;

let folder: string;
let made: string;
let paths: string[];
let manifest: z.infer<typeof manifestSchema>;

function run(cwd: string, command: string, args: string[], env: NodeJS.ProcessEnv = process.env) {
  const options = { cwd, env, timeout: 60_000, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  return { ok: status === 0, output: stdout, errors: stderr };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'order-screening-consumer-'));
  made = join(folder, 'made');
  await makePackage(ROOT, made);
  const packed = await pack(made, folder);
  paths = packed.paths;
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, 'order-screening'), { recursive: true });
  const where = ['-C', join(modules, 'order-screening'), '--strip-components=1'];
  expect(run(folder, 'tar', ['-xzf', packed.file, ...where])).toMatchObject({ ok: true });
  manifest = manifestSchema.parse(
    JSON.parse(await readFile(join(modules, 'order-screening/package.json'), 'utf8')),
  );
  // No registry is asked: what npm would install is linked. Any other package isn't found from here.
  const wanted = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)];
  for (const name of [...wanted, '@types/node']) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed file', () => {
  it('holds what it should and nothing else, and pulls in no worker', () => {
    expect(packageFaults(made, paths)).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(['dist/starter.js', 'dist/codec/failure-converter.cjs']));
    expect(paths.filter((path) => /workflows|activities|worker|sandbox|api\//.test(path))).toEqual([]);
  });

  it('asks for the packages that the build refers to, in the versions of the project', async () => {
    const project = z
      .looseObject({ version: z.string(), dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
    const asked = { ...manifest.dependencies, ...manifest.peerDependencies };
    expect(Object.keys(asked).sort()).toEqual(MAY_PULL_IN);
    for (const [name, range] of Object.entries(asked)) {
      expect(range.replace('^', ''), name).toBe(project.dependencies[name]);
    }
    expect(manifest.version).toBe(project.version);
    expect(manifest).toMatchObject({ private: true });
    expect(Object.keys(manifest)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:scripts|devDependencies|bin|overrides)$/)]),
    );
  });
});

/** How a project may be set up, and what of it differs. */
const PROJECTS = [
  { name: 'ES modules', type: 'module', module: 'nodenext', moduleResolution: 'nodenext' },
  { name: 'CommonJS', type: 'commonjs', module: 'nodenext', moduleResolution: 'nodenext' },
  {
    name: 'CommonJS as a bundler resolves',
    type: 'commonjs',
    module: 'commonjs',
    moduleResolution: 'bundler',
  },
];

describe.concurrent('the project of an order service compiles strictly, declarations included, and runs', () => {
  it.each(PROJECTS)('$name', async ({ name, type, module, moduleResolution }) => {
    const project = join(folder, name.replaceAll(' ', '-'));
    await mkdir(project);
    await writeFile(join(project, 'package.json'), JSON.stringify({ type }));
    await writeFile(join(project, 'consumer.ts'), CONSUMER);
    const compilerOptions = {
      target: 'es2023',
      module,
      moduleResolution,
      strict: true,
      exactOptionalPropertyTypes: true,
      types: ['node'],
      skipLibCheck: false,
    };
    const settings = JSON.stringify({ compilerOptions, files: ['consumer.ts'] });
    await writeFile(join(project, 'tsconfig.json'), settings);

    const { output } = run(project, process.execPath, [TSC, '-p', '.']);
    // Temporal's own declarations have faults, for whoever looks into those of libraries.
    const faults = output.split('\n').filter((line) => /error TS/.test(line) && !IN_TEMPORAL.test(line));
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
    expect(ran.errors).toBe('');
    expect(JSON.parse(ran.output)).toEqual(WRITTEN);
  });
});
