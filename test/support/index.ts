export { freePort } from '../../src/dev/guarded-child.ts';
export { eventually } from './eventually.ts';
export { type GivenKey, keyEntry, keysFile } from './keys-file.ts';
export { someAtATime } from './processes/some-at-a-time.ts';
export { spawnForTest } from './processes/spawn-for-test.ts';
export { type SpawnedProcess, type SpawnOptions, spawnProcess } from './processes/spawn-process.ts';
export { API_WITHOUT_TEMPORAL } from './servers/api-without-temporal.ts';
export { type TestServer, withTestServer } from './servers/test-server.ts';
export { createTimeSkipping } from './servers/time-skipping.ts';
