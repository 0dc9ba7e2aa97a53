import { expect, it } from 'vitest';
import { figuresOf } from '../../bench/parts/decision.ts';
import { rotated } from '../../bench/ways/rounds.ts';
import type { WayKind } from '../../bench/ways/way.ts';

const kind = (name: string, role: WayKind['role'], targets: WayKind['targets'] = {}): WayKind => ({
  name,
  role,
  targets,
  open: async () => {
    throw new Error('not opened here');
  },
});
const took = (p50: number) => ({ p50, p90: 2 * p50, p99: 3 * p50 });

it('compares what each of our ways adds with the floor and the plain way, percentile by percentile', () => {
  const one = kind('one', 'ours', { p50: [{ against: 'floor', is: 'at most', limit: 2 }] });
  const figures = figuresOf(
    [
      [
        { kind: kind('direct call', 'service'), took: took(10), failures: [] },
        { kind: kind('floor', 'floor'), took: took(30), failures: ['late'] },
        { kind: kind('plain way', 'plain'), took: took(90), failures: [] },
        { kind: one, took: took(34), failures: ['the decision was pending'] },
        { kind: kind('two', 'ours'), took: took(40), failures: [] },
      ],
    ],
    250,
  );

  expect(figures.map(({ name }) => name)).toEqual([
    'one, service 250 ms, p50',
    'two, service 250 ms, p50',
    'one, service 250 ms, p90',
    'two, service 250 ms, p90',
    'one, service 250 ms, p99',
    'two, service 250 ms, p99',
  ]);
  expect(figures[0]).toMatchObject({ value: 24, floor: 20, plain: 80, toFloor: { value: 1.2 } });
  expect(figures[0]?.targets).toMatchObject([{ met: false }]);
  expect(figures[0]?.note).toBe('1 failed: the decision was pending');
  expect(figures[1]?.note).toBeUndefined();
  expect(figures[4]).toMatchObject({ value: 92, floor: 80, plain: 260 });
});

it('starts every round with a different way', () => {
  expect([0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''))).toEqual([
    'abc',
    'bca',
    'cab',
    'abc',
  ]);
});
