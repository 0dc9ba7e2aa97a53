/** What git must say before a release. */
import { runCommand } from '../../src/dev/guarded-child.ts';
import type { Fault } from './fault.ts';

const TIMEOUT_MS = 30_000;
const SHOWN = 5;

/** @returns what git wrote, or undefined when it refused */
async function git(root: string, ...args: string[]): Promise<string | undefined> {
  const { ok, output } = await runCommand('git', args, { cwd: root, timeoutMs: TIMEOUT_MS });
  return ok ? output.trimEnd() : undefined;
}

/** @returns the name of a version's tag */
export function tagOf(version: string): string {
  return `v${version}`;
}

export async function gitFaults(root: string, version: string): Promise<Fault[]> {
  const status = await git(root, 'status', '--porcelain');
  if (status === undefined) {
    return [{ what: 'git knows no repository here', todo: 'Release from a clone, with git installed' }];
  }
  const faults: Fault[] = [];
  const changed = status === '' ? [] : status.split('\n').map((line) => line.slice(3));
  if (changed.length > 0) {
    const more = changed.length > SHOWN ? ` and ${changed.length - SHOWN} more` : '';
    faults.push({
      what: `The working tree is not clean: ${changed.slice(0, SHOWN).join(', ')}${more}`,
      todo: 'Commit what belongs to the release, remove or stash the rest',
    });
  }
  const branch = await git(root, 'symbolic-ref', '--quiet', '--short', 'HEAD');
  if (branch !== 'main') {
    faults.push({
      what: branch === undefined ? 'No branch is checked out' : `The branch is ${branch}`,
      todo: 'Merge it, then git switch main: releases are made from there',
    });
  }
  const tag = tagOf(version);
  if ((await git(root, 'tag', '--list', tag)) === tag) {
    faults.push({
      what: `The tag ${tag} exists already`,
      todo: 'Raise the version: npm version --no-git-tag-version <next>',
    });
  }
  return faults;
}

/** @returns the commit that is checked out; undefined: there is none */
export function currentCommit(root: string): Promise<string | undefined> {
  return git(root, 'rev-parse', '--verify', '--quiet', 'HEAD');
}

/**
 * Makes the annotated tag of a version, with what the changelog notes of it.
 * @throws Error with git's own words when it refuses, such as when it doesn't know who tags
 */
export async function makeTag(root: string, version: string, commit: string, notes: string): Promise<string> {
  const tag = tagOf(version);
  // Without --cleanup git would take the headings for comments.
  const message = ['--cleanup=whitespace', '-m', `${version}\n\n${notes}`];
  const args = ['tag', '--annotate', ...message, tag, commit];
  const { ok, errors } = await runCommand('git', args, { cwd: root, timeoutMs: TIMEOUT_MS });
  if (!ok) throw new Error(`git made no tag:\n${errors.trim()}`);
  return tag;
}
