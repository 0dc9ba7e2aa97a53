export { freePort } from '../../src/dev/guarded-child.ts';
export { API_WITHOUT_TEMPORAL } from './api-without-temporal.ts';
export { eventually } from './eventually.ts';
export { type GivenKey, keyEntry, keysFile } from './keys-file.ts';
export { someAtATime } from './some-at-a-time.ts';
export { spawnForTest } from './spawn-for-test.ts';
export { type SpawnedProcess, type SpawnOptions, spawnProcess } from './spawn-process.ts';
export { type TestServer, withTestServer } from './test-server.ts';
export { createTimeSkipping } from './time-skipping.ts';
