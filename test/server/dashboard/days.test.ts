import { describe, expect, it, vi } from 'vitest';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anApi } from '../api/fake-order-screening.ts';
import { queued, textOf } from './support.ts';

describe('the last days', () => {
  it('are counted once in half a minute, however many ask, for each choice of integrations', async () => {
    const { app, orderScreening } = await anApi();
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const asked = async (...urls: string[]) => {
      await Promise.all(urls.map((url) => app.inject(url)));
      return orderScreening.count.mock.calls.length;
    };
    const once = await asked('/days', '/days');
    expect(once).toBe(49);
    expect(await asked('/days?integration=other')).toBe(2 * once);
    orderScreening.count.mockRejectedValueOnce(new OrderScreeningError('temporal-unavailable', 'Not now.'));
    await asked('/days?integration=third');
    expect((await app.inject('/days?integration=third')).statusCode).toBe(200);
    vi.advanceTimersByTime(30_000);
    const later = orderScreening.count.mock.calls.length;
    expect(await asked('/days')).toBe(later + once);
    vi.useRealTimers();
  });

  it('count all seven decisions, as bars with a total, a legend and a table', async () => {
    const { app, orderScreening } = await queued();
    const DECISIONS = ['pass', 'review', 'fail', 'fraudulent', 'error', 'pending', 'skipped'];
    orderScreening.count.mockResolvedValue(2);
    const { body } = await app.inject('/days');
    for (const decision of DECISIONS) {
      expect(body).toContain(`<li class="key ${decision}">${decision} <span class="quiet">14</span></li>`);
      expect(body).toContain(`<rect class="${decision}"`);
    }
    expect(textOf(body)).toMatch(/Last 7 days 98 orders, all stores/);
    expect(body).toContain('<b class="total">14</b>');
    expect(body).not.toContain(' fill="');
  });

  it('say what is to be done now, how long reviews took, and how overrides turned out', async () => {
    const { app, orderScreening } = await queued();
    orderScreening.statistics.mockResolvedValue({
      outcomes: { overridden: 5, 'override-confirmed': 3, 'override-contradicted': 1, chargeback: 2 },
      reviews: { count: 40, median: 2.5, p90: 26 },
    });
    const shown = textOf((await app.inject('/days?integration=default')).body);
    expect(shown).toMatch(/To do now .*1 in the queue /);
    expect(shown).toContain('Reviews decided 40: half within 2 h 30 min, 90% within 1 d 2 h');
    expect(shown).toMatch(/Overridden by a person 5: .* later confirmed 3 and contradicted 1 .*submitted 2 /);
    const [integrations] = orderScreening.statistics.mock.lastCall ?? [];
    expect(integrations).toEqual(['default']);
    const outcomes = { overridden: 0, 'override-confirmed': 0, 'override-contradicted': 0, chargeback: 0 };
    const reviews = { count: 20_000, timed: 1_000, median: 2.5, p90: 26 };
    orderScreening.statistics.mockResolvedValue({ outcomes, reviews });
    expect(textOf((await app.inject('/days')).body)).toContain(
      'Reviews decided 20,000: of the newest 1,000, half within 2 h 30 min, 90% within 1 d 2 h',
    );
  });
});
