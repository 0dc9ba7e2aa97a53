/** All that is looked at before a release, the quick things first. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../src/dev/guarded-child.ts';
import { makePackage, pack } from '../package/make-package.ts';
import { packageFaults } from '../package/package-faults.ts';
import { changelogFaults } from './changelog.ts';
import type { Fault } from './fault.ts';
import { gitFaults } from './git.ts';
import { lockfileFaults } from './lockfile.ts';

export interface Step {
  /** What is looked at. */
  name: string;
  faults: () => Promise<Fault[]>;
}

/** The scripts that make pages of docs/, or tables in them. The OpenAPI document is made when it is asked for, and in no file. */
const MAKERS = ['docs', 'licences'];
const SCRIPT_MS = 60 * 60_000;
const SHOWN_LINES = 12;

/** @param version that package.json names */
export function releaseSteps(root: string, version: string): Step[] {
  const read = (path: string) => readFile(join(root, path), 'utf8');
  return [
    { name: 'git', faults: () => gitFaults(root, version) },
    { name: 'CHANGELOG.md', faults: async () => changelogFaults(await read('CHANGELOG.md'), version) },
    {
      name: 'package-lock.json',
      faults: async () => lockfileFaults(await read('package.json'), await read('package-lock.json')),
    },
    ...MAKERS.map((script) => ({ name: `npm run ${script}`, faults: () => madeFaults(root, script) })),
    { name: 'the SBOM', faults: () => scriptFaults(root, 'sbom') },
    { name: 'the package', faults: () => ownPackageFaults(root) },
    { name: 'npm run check', faults: () => scriptFaults(root, 'check') },
    { name: 'npm test', faults: () => scriptFaults(root, 'test') },
  ];
}

/** Has the pages made anew, compares, and puts them back as they were: what follows looks at what is committed. */
async function madeFaults(root: string, script: string): Promise<Fault[]> {
  const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
  const pages = await Promise.all(
    names.map(async (name) => ({ name, before: await readFile(join(root, 'docs', name)) })),
  );
  const faults = await scriptFaults(root, script);
  for (const { name, before } of pages) {
    const file = join(root, 'docs', name);
    if (before.equals(await readFile(file))) continue;
    await writeFile(file, before);
    faults.push({ what: `docs/${name} is out of date`, todo: `Run npm run ${script}, and commit the page` });
  }
  return faults;
}

async function ownPackageFaults(root: string): Promise<Fault[]> {
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-release-'));
  try {
    await makePackage(root, folder);
    const { paths } = await pack(folder, folder);
    return packageFaults(folder, paths).map((what) => ({
      what: `The package is wrong: ${what}`,
      todo: 'Correct exports and files in package.json, tsconfig.build.json, or the import',
    }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ what: `The package can't be made: ${why}`, todo: 'Run npm run pack until it works' }];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function scriptFaults(root: string, script: string): Promise<Fault[]> {
  const { ok, output, errors, reason } = await runCommand('npm', ['run', '--silent', script], {
    cwd: root,
    timeoutMs: SCRIPT_MS,
  });
  if (ok) return [];
  const last = `${output}\n${errors}`.trim().split('\n').slice(-SHOWN_LINES).join('\n  ');
  return [
    {
      what: `npm run ${script} failed (${reason}):\n  ${last}`,
      todo: `Run npm run ${script} until it passes`,
    },
  ];
}
