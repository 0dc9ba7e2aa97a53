// Prints the failed tests and "N passed, N failed" from JSON reports of vitest, the count alone on the last line. Fails when a test
// failed, when a file could not be run, or when a run had no test.
// Usage: node tools/ci/summary.mjs <report.json> <exit code of vitest> [<report.json> <exit code> ...]
import { readFileSync } from 'node:fs';

let passed = 0;
let failed = 0;
let allRan = true;
for (let at = 2; at < process.argv.length; at += 2) {
  const report = read(process.argv[at]);
  // A file that fails before its first test (a syntax error, a failed hook) counts as one failure.
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed'),
  );
  for (const file of brokenFiles) console.log(`Could not be run: ${file.name}\n${beginning(file.message)}`);
  for (const file of report.testResults) {
    for (const test of file.assertionResults.filter(({ status }) => status === 'failed')) {
      console.log(`Failed: ${file.name} > ${test.fullName}\n${beginning(test.failureMessages.join('\n'))}`);
    }
  }
  const failedHere = report.numFailedTests + brokenFiles.length;
  const ranNone = report.numPassedTests + failedHere === 0;
  if (ranNone) console.log('No test ran.');
  passed += report.numPassedTests;
  failed += failedHere;
  allRan &&= report.success && !ranNone && process.argv[at + 1] === '0';
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || !allRan ? 1 : 0;

/** Enough of an error to see which one it is, at the end of a long log. */
function beginning(message = '') {
  return message.slice(0, 2_000).split('\n').slice(0, 15).join('\n');
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    console.log(`There is no report of the tests: ${error.message}`);
    return { numPassedTests: 0, numFailedTests: 0, success: false, testResults: [] };
  }
}
