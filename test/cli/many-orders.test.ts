import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OrderScreeningError } from '../../src/starter.ts';
import { run } from './support.ts';

const NOW = '2026-03-02T10:00:00.000Z';
const hours = (count: number) => new Date(Date.parse(NOW) + count * 3_600_000).toISOString();

function atNow(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(NOW) });
  onTestFinished(() => void vi.useRealTimers());
}

describe('the filters of a list', () => {
  it.each<[options: string, asked: object]>([
    ['--find INV-1', { find: 'INV-1' }],
    ['--open', { open: true }],
    ['--no-open', { open: false }],
    ['--due-within 12', { open: true, cancelBy: { until: hours(12) } }],
    ['--due-before 2026-03-03T00:00:00+01:00', { open: true, cancelBy: { until: hours(13) } }],
    ['--due-within 12 --due-before 2026-03-02T11:00:00Z', { open: true, cancelBy: { until: hours(1) } }],
    ['--due-within 1 --due-before 2026-03-03T00:00:00Z', { open: true, cancelBy: { until: hours(1) } }],
    ['--due-within 12 --no-open', { open: false, cancelBy: { until: hours(12) } }],
    ['--amount-to 20.125', { amount: { from: undefined, until: 20.125 } }],
    ['--amount-from 10.50', { amount: { from: 10.5, until: undefined } }],
    ['--amount-from 10 --amount-to 20', { amount: { from: 10, until: 20 } }],
    [`--started-from ${hours(-24)} --started-to ${NOW}`, { started: { from: hours(-24), until: NOW } }],
  ])('ask for the same of list and count: %s', async (options, asked) => {
    atNow();
    const listed = await run(['list', ...options.split(' ')]);
    expect(listed.orders.list).toHaveBeenCalledExactlyOnceWith(asked);
    const counted = await run(['count', ...options.split(' ')]);
    const open = options.includes('--no-open') ? [] : [[{ ...asked, open: true }]];
    expect(counted.orders.count.mock.calls).toEqual([[asked], ...open]);
  });

  it.each([
    '--due-within 0',
    '--due-before tomorrow',
    '--amount-from -1',
    '--amount-to 1e3',
    '--started-from 2026-03-02',
    '--find=',
  ])('are refused by name when they are none: %s', async (options) => {
    const { code, problem, orders } = await run(['list', ...options.split(' ')]);
    expect(code).toBe(2);
    expect(problem?.errors).toMatchObject([{ path: options.split(/[ =]/)[0] }]);
    expect(orders.list).not.toHaveBeenCalled();
  });
});

describe('several orders', () => {
  const refused = new OrderScreeningError('order-closed', 'The order is closed.');

  it('are asked each once, and answered by a line each; the exit code is that of the first that failed', async () => {
    const { code, answers, orders } = await run(
      ['acknowledge', '1001', '#1002', '1003', '1001', '--reason', 'seen', '--actor', 'ada'],
      ({ acknowledge }) => acknowledge.mockRejectedValueOnce(refused),
    );
    expect(code).toBe(3);
    expect(answers).toEqual([
      { orderId: '1001', problem: { type: 'order-closed', detail: 'The order is closed.' } },
      { orderId: '1002', cleared: 1 },
      { orderId: '1003', cleared: 1 },
    ]);
    expect(orders.acknowledge.mock.calls).toEqual(
      ['1001', '1002', '1003'].map((orderId) => [{ orderId }, { reason: 'seen' }, { by: { actor: 'ada' } }]),
    );
  });

  it('are told in words, a line each', async () => {
    const { code, answers } = await run('recheck 1001 1002 --table', ({ recheck }) =>
      recheck.mockRejectedValueOnce(refused),
    );
    expect(code).toBe(3);
    expect(answers[0]).toBe('1001  refused The order is closed.');
    expect(answers[1]).toMatch(/^1002 {2}\w+ [^\n]+$/);
  });

  it('are not called refused where nothing answered: they may have been done', async () => {
    const { code, answers } = await run(
      ['acknowledge', '1001', '1002', '--reason', 'seen', '--table'],
      ({ acknowledge }) =>
        acknowledge.mockRejectedValueOnce(new OrderScreeningError('temporal-unavailable', 'No answer.')),
    );
    expect([code, answers[0]]).toEqual([5, '1001  unanswered No answer.']);
  });

  it('are not asked when one of the ids is none', async () => {
    const { code, problem, orders } = await run(['recheck', '1001', 'x'.repeat(129)]);
    expect(code).toBe(2);
    expect(problem?.errors).toMatchObject([{ path: '<orderId>' }]);
    expect(orders.recheck).not.toHaveBeenCalled();
  });
});
