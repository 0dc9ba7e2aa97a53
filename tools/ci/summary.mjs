// Prints "N passed, N failed" from the JSON report of vitest, alone on the last line, and fails when a test failed,
// when a file could not be run, or when no test ran at all.
// Usage: node tools/ci/summary.mjs <report.json> <exit code of vitest>
import { readFileSync } from 'node:fs';

const [, , reportPath, exitCode] = process.argv;
let report = { numPassedTests: 0, numFailedTests: 0, success: false, testResults: [] };
try {
  report = JSON.parse(readFileSync(reportPath, 'utf8'));
} catch (error) {
  console.log(`There is no report of the tests: ${error.message}`);
}

// A file that fails before its first test (a syntax error, a failed hook) counts as one failure.
const brokenFiles = report.testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed'),
);
for (const file of brokenFiles) console.log(`Could not be run: ${file.name}`);

const passed = report.numPassedTests;
const failed = report.numFailedTests + brokenFiles.length;
const ranNone = passed + failed === 0;
if (ranNone) console.log('No test ran.');
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || ranNone || !report.success || exitCode !== '0' ? 1 : 0;
