import pc from 'picocolors';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createOutput, showOrder, showPortalAnswer } from '../../src/cli/output.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { ActionRecord } from '../../src/orders/state.ts';
import { aPortalAnswer, fakeOrderScreening } from '../api/fake-order-screening.ts';
import { anOrderState } from '../fixtures/orders.ts';

/** Without colours, also where the environment asks for them. */
const colors = { ...pc.createColors(false), createColors: pc.createColors };
const asked: ActionRecord = {
  number: 7,
  kind: 'chargeback',
  subject: 'x',
  status: 'done',
  by: 'caller',
  requestedAt: '2026-03-01T10:00:00.000Z',
};

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

/** Runs a command over a fake. */
async function run(orderScreening: ReturnType<typeof fakeOrderScreening>, ...args: string[]) {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const program = createProgram({
    env: {},
    output: createOutput(true),
    withOrders: (use) => use(orderScreening),
  });
  await program.parseAsync(args, { from: 'user' });
  const exitCode = process.exitCode;
  process.exitCode = undefined;
  return { exitCode, answer: JSON.parse(String(written.mock.calls[0]?.[0])) };
}

describe('withdraw', () => {
  it.each([
    ['withdrawn', 0],
    ['done', 0],
    ['requested', 7],
  ] as const)('that is %s ends with %i', async (status, code) => {
    const orderScreening = fakeOrderScreening();
    const said = aPortalAnswer({ number: 2, status });
    orderScreening.withdraw.mockResolvedValue(said);
    const { exitCode, answer } = await run(
      orderScreening,
      ...['withdraw', '1001', '2', '--integration', 'shop', '--idempotency-key', 'k'],
    );
    expect({ exitCode, answer }).toEqual({ exitCode: code, answer: said });
    expect(orderScreening.withdraw).toHaveBeenCalledExactlyOnceWith(
      { orderId: '1001', integration: 'shop' },
      { number: 2 },
      { idempotencyKey: 'k' },
    );
  });
});

describe('the tables', () => {
  it('show the number of each action, its status and what the service echoed', () => {
    const order = anOrderState({
      actions: [
        { ...asked, chargeback: { reason_code: '10.4', reference_number: 'CB\u001b-1' } },
        { ...asked, number: 8, status: 'not-sent' },
        { ...asked, number: 9, status: 'withdrawn' },
      ],
    });
    const shown = showOrder(order, colors);
    expect(shown).toMatch(/│ 7 +│ chargeback +│ done/);
    expect(shown).toMatch(/│ 8 +│ chargeback +│ not-sent/);
    expect(shown).toMatch(/│ 9 +│ chargeback +│ withdrawn/);
    expect(shown).toContain('reason_code 10.4, reference_number CB -1');
  });

  it('show the same of an answer', () => {
    const answer = aPortalAnswer({ number: 7, kind: 'chargeback', chargeback: { reason_code: '10.4' } });
    const shown = showPortalAnswer(answer, colors);
    expect(shown).toMatch(/^number +7$/m);
    expect(shown).toMatch(/^chargeback +reason_code 10\.4$/m);
  });
});
