import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { fakeOrderScreening } from '../api/fake-order-screening.ts';
import { anOrderState } from '../fixtures/orders.ts';
import { runCommand } from '../support/run-command.ts';

async function run(...command: string[]) {
  const orders = fakeOrderScreening();
  return { ...(await runCommand(command, { env: {}, withOrders: (use) => use(orders) })), orders };
}

describe('who asks by a command', () => {
  it('is the user of the system, as claimed, unless another is named', async () => {
    const byUser = await run('cancel', '1001');
    expect(byUser.orders.cancel.mock.calls[0]?.[2]).toEqual({ by: { actor: userInfo().username } });
    const named = await run('acknowledge', '1001', '--reason', 'seen', '--actor', 'Zoë');
    expect(named.orders.acknowledge.mock.calls[0]?.[2]).toEqual({ by: { actor: 'Zoë' } });
  });

  it.each(['', 'x'.repeat(101), 'ada\nbo'])('is no name, and nothing is done: %j', async (actor) => {
    const { code, problem, orders } = await run('cancel', '1001', '--actor', actor);
    expect(code).toBe(2);
    expect(problem?.errors).toMatchObject([{ path: '--actor' }]);
    if (actor !== '') expect(JSON.stringify(problem)).not.toContain(actor);
    expect(orders.cancel).not.toHaveBeenCalled();
  });
});

it('show lists who did what, and why', async () => {
  const orders = fakeOrderScreening();
  const at = '2026-03-02T11:00:00.000Z';
  orders.get.mockResolvedValue(
    anOrderState({
      journal: [
        {
          at,
          what: 'override',
          action: 'proceed',
          by: { key: 'ops', actor: 'ada' },
          because: 'showed the card',
        },
        { at, what: 'withdraw', number: 3 },
      ],
    }),
  );
  const shown = await runCommand(['show', '1001', '--table'], { env: {}, withOrders: (use) => use(orders) });
  const text = shown.answers.join('\n');
  expect(text).toMatch(/2026-03-02 11:00:00Z.*override proceed.*ops.*ada.*showed the card/);
  expect(text).toMatch(/withdraw 3.*-.*-/);
});
