import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from './fake-commands.ts';

/** What the summary prints last and ends with, for a report and vitest's exit code. */
async function summary(report: object | string, exitCode = 0) {
  const path = join(await scratchFolder(), 'report.json');
  await writeFile(path, typeof report === 'string' ? report : JSON.stringify(report));
  const { stdout, status } = spawnSync(process.execPath, ['tools/ci/summary.mjs', path, String(exitCode)], {
    encoding: 'utf8',
  });
  return { last: stdout.trimEnd().split('\n').at(-1), status };
}

const passing = { numPassedTests: 3, numFailedTests: 0, success: true, testResults: [] };

test('all tests passed: their number, and success', async () => {
  expect(await summary(passing)).toEqual({ last: '3 passed, 0 failed', status: 0 });
});

test('a failed test is counted and fails', async () => {
  const report = { ...passing, numFailedTests: 1, success: false };

  expect(await summary(report, 1)).toEqual({ last: '3 passed, 1 failed', status: 1 });
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
