import { describe, expect, it } from 'vitest';
import { loadWorkerVersion } from '../../src/config/index.ts';

describe('the version of the workers', () => {
  it('is its deployment and its build', () => {
    const version = loadWorkerVersion({ WORKER_DEPLOYMENT_NAME: 'orders', WORKER_BUILD_ID: 'v1.2.3' });

    expect(version).toEqual({ deploymentName: 'orders', buildId: 'v1.2.3' });
  });

  it('is none when nothing is set', () => {
    expect(loadWorkerVersion({ WORKER_DEPLOYMENT_NAME: '' })).toBeUndefined();
  });

  it.each([
    ['WORKER_BUILD_ID', { WORKER_DEPLOYMENT_NAME: 'orders' }],
    ['WORKER_DEPLOYMENT_NAME', { WORKER_BUILD_ID: 'v1' }],
  ])('is not complete without %s', (missing, env) => {
    expect(() => loadWorkerVersion(env)).toThrow(`${missing}: is required with`);
  });

  it('has names that the server can join by a dot', () => {
    const env = { WORKER_DEPLOYMENT_NAME: 'a.b', WORKER_BUILD_ID: 'with space' };

    expect(() => loadWorkerVersion(env)).toThrow(/2 errors.*WORKER_DEPLOYMENT_NAME.*WORKER_BUILD_ID/s);
  });
});
