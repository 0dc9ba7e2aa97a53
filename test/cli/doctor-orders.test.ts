import { describe, expect, it } from 'vitest';
import { checkPortalActions } from '../../src/cli/doctor/check-temporal.ts';

const PORTAL = "WorkflowType = 'portalAction' AND ExecutionStatus = 'Running' AND NeedsAttention = true";

describe('doctor, of portal actions on closed orders', () => {
  it('says that none waits for the right key', async () => {
    expect(await checkPortalActions(async () => 0)).toEqual({
      check: 'portal-actions',
      status: 'ok',
      what: 'no portal action on a closed order waits for the right key',
    });
  });

  it('finds those that wait for the right key, which no list of orders shows', async () => {
    expect(await checkPortalActions(async (query) => (query === PORTAL ? 1 : 0))).toEqual({
      check: 'portal-actions',
      status: 'warning',
      what: expect.stringMatching(/^1 portal action .*403/),
      todo: expect.stringContaining(PORTAL),
    });
  });

  it('says so when the server does not count', async () => {
    const found = await checkPortalActions(async () => {
      throw new Error('no');
    });
    expect(found.status).toBe('skipped');
  });
});
