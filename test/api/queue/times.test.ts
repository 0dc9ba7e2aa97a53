import { expect, it } from 'vitest';
import { amount, clock, distance, duration, moment } from '../../../src/api/queue/layout.ts';

it.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_600_000, '1 h'],
  [12_060_000, '3 h 21 min'],
  [86_400_000, '1 d'],
  [432_000_000 - 1, '4 d 23 h'],
])('%i ms are shown as %s', (ms, shown) => {
  expect(duration(ms)).toBe(shown);
});

it('a moment is shown with its distance, before and after', () => {
  const now = { ms: Date.parse('2026-03-06T10:00:00.000Z'), zone: 'UTC' };
  const text = '2026-03-06 12:30:00 UTC';
  const later = moment('2026-03-06T12:30:00.500Z', now).markup;
  expect(later).toBe(`in 2 h 30 min, <time datetime="2026-03-06T12:30:00.500Z">${text}</time>`);
  expect(moment('2026-03-06T09:59:00.000Z', now).markup).toMatch(/^1 min ago, /);
});

it('the distance is one short line, with the moment in the chosen zone as its title', () => {
  const now = { ms: Date.parse('2026-03-06T10:00:00.000Z'), zone: 'Europe/Berlin' };
  expect(distance('2026-03-06T12:30:00.000Z', now).markup).toBe(
    '<time datetime="2026-03-06T12:30:00.000Z" title="2026-03-06 13:30:00 CET">in 2 h 30 min</time>',
  );
  expect(clock('2026-07-06T23:30:00.000Z', now).markup).toContain('2026-07-07 01:30:00 CEST');
});

it.each([
  [125.5, '125.50'],
  [1234567, '1,234,567.00'],
  [0.125, '0.125'],
])('an amount of %d is shown as %s', (value, shown) => {
  expect(amount(value)).toBe(shown);
});
