export { freePort } from '../../src/dev/guarded-child.ts';
export { eventually } from './eventually.ts';
export { spawnForTest } from './spawn-for-test.ts';
export { type SpawnedProcess, type SpawnOptions, spawnProcess } from './spawn-process.ts';
export { type TestServer, withTestServer } from './test-server.ts';
export { createTimeSkipping } from './time-skipping.ts';
