import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../src/contract/state.ts';
import { aCheckoutAnswer, anOrderSummary, aPortalAnswer } from '../api/fake-order-screening.ts';
import { anOrderState } from '../fixtures/orders.ts';
import { asked, run } from './support.ts';

const FILE = 'examples/orders/fraudulent.json';

const attempt: Attempt = {
  number: 1,
  startedAt: asked.requestedAt,
  screenUntil: asked.requestedAt,
  decision: 'pass',
  readings: [],
  rescreens: 0,
  override: { action: 'proceed', reason: 'called CB\u001b-1', by: 'person', at: asked.requestedAt },
};

describe('words and tables', () => {
  it('show an order, the number of each action, its status and what the service echoed', async () => {
    const state = anOrderState({
      attempts: [attempt],
      actions: [
        { ...asked, chargeback: { reason_code: '10.4', reference_number: 'CB\u001b-1' } },
        { ...asked, number: 8, status: 'not-sent' },
        { ...asked, number: 9, status: 'withdrawn' },
      ],
    });
    const { answers } = await run(['show', 'order-1', '--table'], ({ get }) => get.mockResolvedValue(state));
    const [shown] = answers;
    expect(shown).toMatch(/^order +order-1 .*\nphase +decided, since .*\ndecision +pass\n/);
    expect(shown).toMatch(/^override +proceed, 2026-03-01 10:00:00Z \(called CB -1\)$/m);
    expect(shown).toContain('│ attempt │ decision │');
    expect(shown).toMatch(/│ 7 +│ chargeback +│ done/);
    expect(shown).toMatch(/│ 8 +│ chargeback +│ not-sent/);
    expect(shown).toMatch(/│ 9 +│ chargeback +│ withdrawn/);
    expect(shown).toContain('reason_code 10.4, reference_number CB -1');
  });

  it('show what came after an order’s end, the oldest first', async () => {
    const at = (hour: number) => `2026-03-09T${hour}:00:00.000Z`;
    const afterEnd = {
      decisions: [
        {
          decision: 'fail' as const,
          action: 'cancel' as const,
          attempt: 1,
          transactionId: 't-1',
          at: at(12),
        },
      ],
      actions: [{ kind: 'report-fraud' as const, status: 'done' as const, requestedAt: at(11), code: '200' }],
      redeliveries: [{ sequence: 2, status: 'delivered' as const, requestedAt: at(13) }],
      incomplete: true as const,
    };
    const { answers } = await run(['show', 'order-1', '--table'], ({ get }) =>
      get.mockResolvedValue({ ...anOrderState(), afterEnd }),
    );
    expect(answers[0]).toMatch(
      /report-fraud +│ 2026-03-09 11:00:00Z │ done 200 +│\n.*decision fail +│ .*12:00:00Z │ cancel +│\n.*event 2 sent again +│ .*13:00:00Z │ delivered/,
    );
    expect(answers[0]).toMatch(/Not everything could be read this time: show the order again\.$/);
  });

  it('show the same of an answer', async () => {
    const answer = aPortalAnswer({ number: 7, kind: 'chargeback', chargeback: { reason_code: '10.4' } });
    const { answers } = await run(['withdraw', '1001', '7', '--table'], ({ withdraw }) =>
      withdraw.mockResolvedValue(answer),
    );
    expect(answers[0]).toMatch(/^number +7$/m);
    expect(answers[0]).toMatch(/^chargeback +reason_code 10\.4$/m);
  });

  it('show the answer to a checkout, and a list with its next page', async () => {
    const checkout = await run(['screen', 'order-1', FILE, '--table'], ({ screen }) =>
      screen.mockResolvedValue(aCheckoutAnswer({ action: 'decline', message: 'Call\u001bus' })),
    );
    expect(checkout.answers[0]).toMatch(/^action +decline$/m);
    expect(checkout.answers[0]).toMatch(/^message +Call us$/m);
    const list = await run(['list', '--table'], ({ list }) =>
      list.mockResolvedValue({ orders: [anOrderSummary()], cursor: 'abc' }),
    );
    expect(list.answers[0]).toMatch(/│ order-1 +│ default +│ review .*│ 125\.50/);
    expect(list.answers[0]).toContain('More: --cursor abc');
  });
});
