import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from './fake-commands.ts';

/** What the summary prints last and ends with, for a report and vitest's exit code, after those of another run. */
async function summary(report: object | string, exitCode = 0, before?: object) {
  const { last, status } = await run(report, exitCode, before);
  return { last, status };
}

async function run(report: object | string, exitCode = 0, before?: object) {
  const folder = await scratchFolder();
  const args = ['tools/ci/summary.mjs'];
  if (before !== undefined) {
    await writeFile(join(folder, 'before.json'), JSON.stringify(before));
    args.push(join(folder, 'before.json'), '0');
  }
  const path = join(folder, 'report.json');
  await writeFile(path, typeof report === 'string' ? report : JSON.stringify(report));
  const { stdout, status } = spawnSync(process.execPath, [...args, path, String(exitCode)], {
    encoding: 'utf8',
  });
  return { output: stdout, last: stdout.trimEnd().split('\n').at(-1), status };
}

const passing = { numPassedTests: 3, numFailedTests: 0, success: true, testResults: [] };

test('all tests passed: their number, and success', async () => {
  expect(await summary(passing)).toEqual({ last: '3 passed, 0 failed', status: 0 });
});

test('two runs are counted together, and fail when one does', async () => {
  expect(await summary(passing, 0, passing)).toEqual({ last: '6 passed, 0 failed', status: 0 });
  const failing = { ...passing, numFailedTests: 1, success: false };
  expect(await summary(passing, 0, failing)).toEqual({ last: '6 passed, 1 failed', status: 1 });
  const nothing = { ...passing, numPassedTests: 0 };
  expect(await summary(passing, 0, nothing)).toEqual({ last: '3 passed, 0 failed', status: 1 });
});

test('a failed test is counted and fails, and the end of the output says which and why', async () => {
  const assertionResults = [
    { status: 'passed', fullName: 'a sum is right', failureMessages: [] },
    { status: 'failed', fullName: 'a sum is wrong', failureMessages: ['expected 1 to be 2\n    at line 3'] },
  ];
  const testResults = [{ name: 'sums.test.ts', status: 'failed', assertionResults }];
  const report = { ...passing, numFailedTests: 1, success: false, testResults };

  const { output, ...rest } = await run(report, 1);
  expect(rest).toEqual({ last: '3 passed, 1 failed', status: 1 });
  expect(output).toContain('Failed: sums.test.ts > a sum is wrong\nexpected 1 to be 2\n    at line 3\n');
  expect(output).not.toContain('a sum is right');
});

test('a file that could not be run counts as a failure, though no test of it failed', async () => {
  const testResults = [{ name: 'a.test.ts', status: 'failed', assertionResults: [] }];

  expect(await summary({ ...passing, success: false, testResults }, 1)).toEqual({
    last: '3 passed, 1 failed',
    status: 1,
  });
});

test('no test at all is a failure', async () => {
  expect(await summary({ ...passing, numPassedTests: 0 })).toEqual({ last: '0 passed, 0 failed', status: 1 });
});

test('a missing or broken report is a failure', async () => {
  expect(await summary('{')).toEqual({ last: '0 passed, 0 failed', status: 1 });
});

test('an error outside the tests fails, though every test passed', async () => {
  expect((await summary(passing, 1)).status).toBe(1);
});
