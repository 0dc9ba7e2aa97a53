import { describe, expect, it } from 'vitest';
import { checkOrders } from '../../src/cli/doctor/check-temporal.ts';

const UNKNOWN = 'ScreeningRules IS NOT NULL AND ScreeningRules != 1 AND ScreeningRules != 2';
const PORTAL = "WorkflowType = 'portalAction' AND ExecutionStatus = 'Running' AND NeedsAttention = true";

/** A release that knows rules 1 and 2, with so many workflows for each query that has any. */
async function findings(counts: Record<string, number> = {}) {
  const asked: string[] = [];
  const found = await checkOrders(
    async (query) => {
      asked.push(query);
      return (
        counts[query.replace(/^WorkflowType = 'screenOrder' AND ExecutionStatus = 'Running' AND /, '')] ?? 0
      );
    },
    [1, 2],
  );
  return { found, asked };
}

describe('doctor, of open orders', () => {
  it('says how many live by each of the rules that this release knows', async () => {
    const { found, asked } = await findings({ 'ScreeningRules = 1': 41, 'ScreeningRules = 2': 1 });
    expect(found).toEqual([
      {
        check: 'rules',
        status: 'ok',
        what: 'this release knows the rules of every order: 41 open orders with rules 1, 1 open order with rules 2',
      },
      {
        check: 'portal-actions',
        status: 'ok',
        what: 'no portal action on a closed order waits for the right key',
      },
    ]);
    for (const query of asked) expect(query).toContain("ExecutionStatus = 'Running'");
  });

  it('finds those by rules of a later release, or of one long gone, and says what makes them go on', async () => {
    const { found } = await findings({ 'ScreeningRules = 1': 41, [UNKNOWN]: 3 });
    expect(found[0]).toEqual({
      check: 'rules',
      status: 'fault',
      what: expect.stringMatching(/^3 open orders .*it knows 1, 2/),
      todo: expect.stringContaining(UNKNOWN),
    });
  });

  it('finds portal actions that wait for the right key, which no list of orders shows', async () => {
    const { found } = await findings({ [PORTAL]: 1 });
    expect(found[1]).toEqual({
      check: 'portal-actions',
      status: 'warning',
      what: expect.stringMatching(/^1 portal action .*403/),
      todo: expect.stringContaining(PORTAL),
    });
  });

  it('says so when the server does not count', async () => {
    const found = await checkOrders(async () => {
      throw new Error('no');
    });
    expect(found.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });
});
