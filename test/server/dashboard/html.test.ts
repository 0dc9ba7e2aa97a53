import { describe, expect, it } from 'vitest';
import { html } from '../../../src/server/dashboard/html.ts';
import {
  age,
  clock,
  dayStarts,
  duration,
  money,
  shortClock,
  zoneName,
} from '../../../src/server/dashboard/words.ts';
import { anyText, property } from '../../support/property.ts';

describe('html', () => {
  it.each([
    ['escapes every value', html`<p title="${'"'}">${`<'&'>`}`, '<p title="&quot;">&lt;&#39;&amp;&#39;&gt;'],
    ['but not what is HTML', html`<ul>${['<a>'].map((one) => html`<li>${one}`)}`, '<ul><li>&lt;a&gt;'],
    ['shows nothing for what is absent', html`[${undefined}${false}${0}]`, '[0]'],
    [
      'takes away what turns round the text, but no line break',
      html`${'a\u202ecb\na\u0000\ud800'}`,
      'a\ufffdcb\na\ufffd\ufffd',
    ],
    ['shows line breaks of all kinds, and tabs', html`${'a\r\nb\rc\td'}`, 'a\nb\nc\td'],
  ])('%s', (_what, { markup }, shown) => {
    expect(markup).toBe(shown);
  });

  property([anyText()])('lets no value end its text or its attribute', (value) => {
    const { markup } = html`${value}`;
    expect(markup).not.toMatch(/[<>"']/);
    expect(markup).not.toMatch(/&(?!(?:amp|lt|gt|quot|#39);)/);
  });
});

const textOf = ({ markup }: { markup: string }) => markup.replaceAll(/<[^>]*>/g, '');

describe('amounts, times and durations', () => {
  it.each([
    [184_000, 'JPY', '184,000 JPY'],
    [312.75, 'KWD', '312.750 KWD'],
    [1249, 'EUR', '1,249.00 EUR'],
    [10, 'QQQ', '10.00 QQQ'],
    [1249, undefined, '1,249'],
    [125.5, undefined, '125.50'],
    [undefined, 'EUR', '–'],
  ])('%s %s is written as the currency has it: %s', (amount, currency, shown) => {
    expect(textOf(money(amount, currency))).toBe(shown);
  });

  const now = { ms: Date.parse('2026-11-25T09:01:07Z'), zone: 'Europe/Berlin' };
  it('are in one zone, and as short as the day allows', () => {
    expect(shortClock('2026-11-25T09:39:00Z', now)).toBe('10:39');
    expect(shortClock('2026-11-26T07:11:00Z', now)).toBe('Thu 08:11');
    expect(shortClock('2026-11-10T07:11:00Z', now)).toBe('Tue 10 Nov 08:11');
    expect(shortClock('2025-11-10T07:11:00Z', now)).toBe('Mon 10 Nov 2025 08:11');
    expect(clock('2026-11-24T23:30:00Z', now).markup).toContain('title="Wed 25 Nov 00:30:00">00:30<');
    expect(zoneName(now)).toBe('Europe/Berlin (UTC+1)');
    expect(zoneName({ ...now, zone: 'UTC' })).toBe('UTC');
  });

  it('are rounded down, to two units or one', () => {
    expect([duration(59_999), duration(12_060_000), duration(90_000_000)]).toEqual([
      '59 s',
      '3 h 21 min',
      '1 d 1 h',
    ]);
    expect(age('2026-11-23T13:02:00Z', now)).toBe('1 d');
    expect(age('2026-11-26T13:02:00Z', now)).toBe('0 s');
  });

  it('days begin at midnight of the zone, also when the clock is changed', () => {
    const after = { ms: Date.parse('2026-10-26T12:00:00Z'), zone: 'Europe/Berlin' };
    expect(dayStarts(3, after)).toEqual([
      '2026-10-25T23:00:00.000Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-23T22:00:00.000Z',
    ]);
    const spring = { ms: Date.parse('2026-03-29T12:00:00Z'), zone: 'Europe/Berlin' };
    expect(dayStarts(2, spring)).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-27T23:00:00.000Z']);
  });
});
