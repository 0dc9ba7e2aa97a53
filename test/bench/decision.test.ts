import { expect, it } from 'vitest';
import { figuresOf, type Rounds } from '../../bench/parts/decision.ts';
import { turned } from '../../bench/ways/open-ways.ts';
import type { WayKind } from '../../bench/ways/way.ts';

const kind = (name: string, role: WayKind['role'], targets: WayKind['targets'] = {}): WayKind => ({
  name,
  role,
  targets,
  open: async () => {
    throw new Error('not opened here');
  },
});
const added = (p50: number) => ({ count: 9, p50, p90: 2 * p50, p99: 3 * p50, max: 4 * p50 });

it('sets each of our ways beside the floor and the plain way, percentile by percentile', () => {
  const measured: Rounds = new Map([
    [kind('direct call', 'service'), [added(0)]],
    [kind('floor', 'floor'), [added(20)]],
    [kind('plain way', 'plain'), [added(80)]],
    [kind('one', 'ours', { p50: [{ against: 'floor', is: 'at most', limit: 2 }] }), [added(24)]],
    [kind('two', 'ours'), [added(30)]],
  ]);

  const figures = figuresOf(measured, 250, ['one: the decision was pending', 'floor: late']);

  expect(figures.map(({ name }) => name)).toEqual([
    'one, service 250 ms, p50',
    'one, service 250 ms, p90',
    'one, service 250 ms, p99',
    'two, service 250 ms, p50',
    'two, service 250 ms, p90',
    'two, service 250 ms, p99',
  ]);
  expect(figures[2]).toMatchObject({ value: 72, floor: 60, plain: 240, toFloor: { value: 1.2 } });
  expect(figures[0]?.targets).toMatchObject([{ met: false }]);
  expect(figures[0]?.note).toBe('1 failed: one: the decision was pending');
  expect(figures[3]?.note).toBeUndefined();
});

it('begins every round with another way', () => {
  expect([0, 1, 2, 3].map((round) => turned(['a', 'b', 'c'], round).join(''))).toEqual([
    'abc',
    'bca',
    'cab',
    'abc',
  ]);
});
