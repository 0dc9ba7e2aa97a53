import { describe, expect, it } from 'vitest';
import { duration, html } from '../../../src/api/queue/layout.ts';
import { anyText, property } from '../../support/property.ts';

describe('html', () => {
  it.each([
    ['escapes every value', html`<p title="${'"'}">${`<'&'>`}`, '<p title="&quot;">&lt;&#39;&amp;&#39;&gt;'],
    ['but not what is HTML', html`<ul>${['<a>'].map((one) => html`<li>${one}`)}`, '<ul><li>&lt;a&gt;'],
    ['shows nothing for what is absent', html`[${undefined}${false}${0}]`, '[0]'],
    ['takes away what turns round the text', html`${'a\u202ecba\u0000\ud800'}`, 'a\ufffdcba\ufffd\ufffd'],
    ['rounds durations down', html`${duration(59_999)}, ${duration(12_060_000)}`, '59 s, 3 h 21 min'],
  ])('%s', (_what, { markup }, shown) => {
    expect(markup).toBe(shown);
  });

  property([anyText()])('lets no value end its text or its attribute', (value) => {
    const { markup } = html`${value}`;
    expect(markup).not.toMatch(/[<>"']/);
    expect(markup).not.toMatch(/&(?!(?:amp|lt|gt|quot|#39);)/);
  });
});
