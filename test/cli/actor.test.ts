import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { run } from './support.ts';

describe('who asks by a command', () => {
  it('is the user of the system, as claimed, unless another is named', async () => {
    const byUser = await run(['cancel', '1001']);
    expect(byUser.orders.cancel.mock.calls[0]?.[2]).toEqual({ by: { actor: userInfo().username } });
    const named = await run(['acknowledge', '1001', '--reason', 'seen', '--actor', 'Zoë']);
    expect(named.orders.acknowledge.mock.calls[0]?.[2]).toEqual({ by: { actor: 'Zoë' } });
  });

  it.each(['', 'x'.repeat(101), 'ada\nbo'])('is no name, and nothing is done: %j', async (actor) => {
    const { code, problem, orders } = await run(['cancel', '1001', '--actor', actor]);
    expect(code).toBe(2);
    expect(problem?.errors).toMatchObject([{ path: '--actor' }]);
    if (actor !== '') expect(JSON.stringify(problem)).not.toContain(actor);
    expect(orders.cancel).not.toHaveBeenCalled();
  });
});
