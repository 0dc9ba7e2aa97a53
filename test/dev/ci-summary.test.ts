import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from './fake-commands.ts';

const passing = { numPassedTests: 3, numFailedTests: 0, success: true, testResults: [] };
const right = { status: 'passed', fullName: 'a sum is right', failureMessages: [] };
const failureMessages = ['1 is not 2\n    at line 3'];
const assertionResults = [right, { status: 'failed', fullName: 'a sum is wrong', failureMessages }];
const failed = { ...passing, success: false };
const REPORTS: Record<string, string> = {
  passing: JSON.stringify(passing),
  empty: JSON.stringify({ ...passing, numPassedTests: 0 }),
  failing: JSON.stringify({
    ...{ ...failed, numFailedTests: 1 },
    testResults: [{ name: 'sums', status: 'failed', assertionResults }],
  }),
  unrun: JSON.stringify({ ...failed, testResults: [{ name: 'a', status: 'failed', assertionResults: [] }] }),
  broken: '{',
};

/** An exit code that is none of the report's is an error outside the tests. */
test.each<[runs: string, last: string, status: number, words?: string]>([
  ['passing 0, passing 0', '6 passed, 0 failed', 0],
  ['failing 1', '3 passed, 1 failed', 1, 'Failed: sums > a sum is wrong\n1 is not 2\n    at line 3\n'],
  ['failing 0, passing 0', '6 passed, 1 failed', 1],
  ['empty 0, passing 0', '3 passed, 0 failed', 1],
  ['unrun 1', '3 passed, 1 failed', 1],
  ['broken 0', '0 passed, 0 failed', 1],
  ['passing 1', '3 passed, 0 failed', 1],
])('the reports and exit codes «%s» end with «%s» and %i', async (runs, last, status, words = '') => {
  const folder = await scratchFolder();
  const args = ['tools/ci/summary.mjs'];
  for (const [index, run] of runs.split(', ').entries()) {
    const [name = '', exitCode = ''] = run.split(' ');
    const path = join(folder, `${index}.json`);
    await writeFile(path, REPORTS[name] ?? '');
    args.push(path, exitCode);
  }
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([ended.stdout.trimEnd().split('\n').at(-1), ended.status]).toEqual([last, status]);
  expect(ended.stdout).toContain(words);
  expect(ended.stdout).not.toContain('a sum is right');
});
