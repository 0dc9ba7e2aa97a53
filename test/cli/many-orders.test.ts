import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OrderScreeningError } from '../../src/starter.ts';
import { anApi, anOrderSummary } from '../api/fake-order-screening.ts';
import { run } from './support.ts';

const NOW = '2026-03-02T10:00:00.000Z';
const hours = (count: number) => new Date(Date.parse(NOW) + count * 3_600_000).toISOString();
const due = (count: number, open = true) => ({ open, cancelBy: { until: hours(count) } });

function atNow(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(NOW) });
  onTestFinished(() => void vi.useRealTimers());
}

describe('the filters of a list', () => {
  it.each<[options: string, asked: object]>([
    ['--find INV-1', { find: 'INV-1' }],
    ['--open', { open: true }],
    ['--no-open', { open: false }],
    ['--due-within 12', due(12)],
    ['--due-before 2026-03-03T00:00:00+01:00', due(13)],
    ['--due-within 12 --due-before 2026-03-02T11:00:00Z', due(1)],
    ['--due-within 1 --due-before 2026-03-03T00:00:00Z', due(1)],
    ['--due-within 12 --no-open', due(12, false)],
    ['--amount-to 20.125', { amount: { from: undefined, until: 20.125 } }],
    ['--amount-from 10.50', { amount: { from: 10.5, until: undefined } }],
    ['--amount-from 10 --amount-to 20', { amount: { from: 10, until: 20 } }],
    [`--started-from ${hours(-24)} --started-to ${NOW}`, { started: { from: hours(-24), until: NOW } }],
  ])('ask for the same of list and count: %s', async (options, asked) => {
    atNow();
    const listed = await run(`list ${options}`);
    expect(listed.orders.list).toHaveBeenCalledExactlyOnceWith(asked);
    const counted = await run(`count ${options}`);
    const open = options.includes('--no-open') ? [] : [[{ ...asked, open: true }]];
    expect(counted.orders.count.mock.calls).toEqual([[asked], ...open]);
  });

  it('count the hours of a watched list from each look', async () => {
    atNow();
    const { orders } = await run('watch --due-within 1 --every 0.001 --timeout 7200', ({ list }) =>
      list.mockImplementation(async () => {
        vi.setSystemTime(Date.now() + 3_600_000);
        return { orders: [] };
      }),
    );
    expect(orders.list.mock.calls).toEqual([[due(1)], [due(2)]]);
  });

  it.each([
    '--due-within 0',
    '--due-before tomorrow',
    '--amount-from -1',
    '--amount-to 1e3',
    '--started-from 2026-03-02',
    '--find=',
    '--csv --limit 3',
    '--csv --cursor next',
  ])('are refused by name when they are none: %s', async (options) => {
    const { code, problem, orders } = await run(`list ${options}`);
    expect([code, problem?.errors]).toMatchObject([2, [{ path: options.split(/[ =]/)[0] }]]);
    expect(orders.list).not.toHaveBeenCalled();
  });
});

it.each(['--json', '--table'])('a list as CSV is the file of the queue page, also with %s', async (form) => {
  const pages = [
    { orders: [anOrderSummary()], cursor: 'next' },
    { orders: [anOrderSummary({ orderId: '=1' })] },
  ];
  const { app, orderScreening } = await anApi();
  const { answers, orders } = await run(`list --csv --phase review ${form}`, ({ list }) => {
    for (const page of pages) list.mockResolvedValueOnce(page);
  });
  orderScreening.list.mockResolvedValue({ orders: pages.flatMap((page) => page.orders) });
  expect(answers).toEqual([(await app.inject('/queue.csv?q=x')).body]);
  const asked = { phase: 'review', limit: 100 };
  expect(orders.list.mock.calls).toEqual([[asked], [{ ...asked, cursor: 'next' }]]);
});

describe('several orders', () => {
  const refused = new OrderScreeningError('order-closed', 'The order is closed.');

  it('are asked each once, and answered by a line each; the exit code is that of the first that failed', async () => {
    const { code, answers, orders } = await run(
      'acknowledge 1001 #1002 1003 1001 --reason seen --actor ada',
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

  it.each<[command: string, method: 'recheck' | 'override']>([
    ['recheck 1001 1002', 'recheck'],
    ['override 1001 1002 --action cancel --reason fraud', 'override'],
  ])('are told in words, a line each: %s', async (command, method) => {
    const { answers } = await run(`${command} --table`, (orders) =>
      orders[method].mockRejectedValueOnce(refused),
    );
    expect(answers).toEqual([
      '1001  refused The order is closed.',
      expect.stringMatching(/^1002 {2}\w+ [^\n]+$/),
    ]);
  });

  it('are not asked when one of the ids is none', async () => {
    const { code, problem, orders } = await run(`recheck 1001 ${'x'.repeat(129)}`);
    expect([code, problem?.errors]).toMatchObject([2, [{ path: '<orderId>' }]]);
    expect(orders.recheck).not.toHaveBeenCalled();
  });
});

it('counts the days as the page does, the newest first', async () => {
  atNow();
  const { answers, orders } = await run('days --integration shop', ({ count }) =>
    count.mockImplementation(async ({ decision, started } = {}) =>
      started?.from === undefined ? 9 : decision === 'pass' ? 3 : decision === undefined ? 1 : 0,
    ),
  );
  const counts = { pass: 3, review: 0, fail: 0, fraudulent: 0 };
  expect(answers[0].days).toHaveLength(7);
  expect(answers[0]).toMatchObject({
    days: [{ from: hours(-24), counts, openReviews: 1 }, ...Array(6).fill({})],
    older: 9,
  });
  expect(orders.count.mock.calls.every(([asked]) => asked?.integration === 'shop')).toBe(true);
});
