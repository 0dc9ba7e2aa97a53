// `npm run release`: says whether this commit can be released, and makes the tag when asked to. It publishes nothing.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { notesOf } from './changelog.ts';
import type { Fault } from './fault.ts';
import { currentCommit, makeTag, tagOf } from './git.ts';
import { releaseSteps } from './steps.ts';

const HELP = `Says whether this commit can be released as the version that package.json names.

  npm run release            looks, and changes nothing
  npm run release -- --tag   looks, and makes the annotated tag v<version> when nothing stands in the way

To prepare a release:
  1. npm version --no-git-tag-version <version>    raises it in package.json and package-lock.json
  2. in CHANGELOG.md, put what is under "## Unreleased" under "## [<version>] - <date>"
  3. commit, and merge to main
  4. npm run release -- --tag
  5. git push origin main v<version>
  6. npm run --silent sbom > order-screening-<version>.cdx.json    the list of all dependencies, handed on with it

It wants a clean working tree on main; no such tag yet; the version first in CHANGELOG.md, dated, with something noted,
and nothing left under Unreleased; a lockfile that fits package.json; the pages of docs/ that are made, and the
tables in them, up to date; a list of all dependencies (CycloneDX) that is complete; a package with what it should hold; npm run check and npm test passing. Every fault is
said, with what to do. It publishes nothing: what is deployed is the image, what is installed is the file of npm run pack.

Ends with 0: ready, or tagged; 1: not ready; 2: called in a way it doesn't know.
`;

function readOptions(): { tag?: boolean; help?: boolean } | undefined {
  try {
    return parseArgs({ options: { tag: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    process.stderr.write(`${wordsOf(error)}\n\n${HELP}`);
    return undefined;
  }
}

function unreadable(error: unknown): Fault {
  return { what: `It can't be looked at: ${wordsOf(error)}`, todo: 'Correct that first' };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function release(root: string, tag: boolean): Promise<number> {
  const manifest: unknown = JSON.parse(await readFile('package.json', 'utf8'));
  const { name, version } = z.object({ name: z.string(), version: z.string() }).parse(manifest);
  // The tag names what was looked at, whatever is committed meanwhile.
  const commit = await currentCommit(root);
  console.log(`${name} ${version}`);
  let count = 0;
  for (const step of releaseSteps(root, version)) {
    process.stdout.write(`${step.name} … `);
    const faults = await step.faults().catch((error: unknown) => [unreadable(error)]);
    count += faults.length;
    console.log(faults.length === 0 ? 'ok' : 'not ready');
    for (const { what, todo } of faults) console.log(`    ${what}\n    → ${todo}`);
  }
  if (count > 0 || commit === undefined) {
    console.log(`\nNot ready: ${count} ${count === 1 ? 'fault' : 'faults'}.`);
    return 1;
  }
  if (!tag) {
    console.log(`\nReady. npm run release -- --tag makes the tag ${tagOf(version)}.`);
    return 0;
  }
  const notes = notesOf(await readFile('CHANGELOG.md', 'utf8'), version) ?? '';
  try {
    const made = await makeTag(root, version, commit, notes);
    console.log(`\nTagged ${made}. To hand it on: git push origin main ${made}`);
    return 0;
  } catch (error) {
    console.log(`\n${wordsOf(error)}`);
    return 1;
  }
}

const options = readOptions();
if (options === undefined) process.exitCode = 2;
else if (options.help === true) process.stdout.write(HELP);
else process.exitCode = await release(process.cwd(), options.tag === true);
