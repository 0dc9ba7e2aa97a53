import { describe, expect, it } from 'vitest';
import { html } from '../../../src/api/queue/layout.ts';
import { anyText, property } from '../../support/property.ts';

describe('html', () => {
  it('escapes every value, in text and in attributes', () => {
    const value = `<script>"alert('&')"</script>`;
    expect(html`<p title="${value}">${value}</p>`.markup).toBe(
      '<p title="&lt;script&gt;&quot;alert(&#39;&amp;&#39;)&quot;&lt;/script&gt;">' +
        '&lt;script&gt;&quot;alert(&#39;&amp;&#39;)&quot;&lt;/script&gt;</p>',
    );
  });

  it('leaves HTML that it has made as it is, also in lists', () => {
    expect(html`<ul>${['<a>', 'b'].map((one) => html`<li>${one}</li>`)}</ul>`.markup).toBe(
      '<ul><li>&lt;a&gt;</li><li>b</li></ul>',
    );
  });

  it('shows nothing for what is absent, and numbers as they are', () => {
    expect(html`[${undefined}${false}${0}]`.markup).toBe('[0]');
  });

  it('takes away what hides or turns round the text after it', () => {
    expect(html`${'a\u202ecba\u0000\u0007\ud800'}`.markup).toBe('a\ufffdcba\ufffd\ufffd\ufffd');
  });

  property([anyText()])('lets no value end its text or its attribute', (value) => {
    const { markup } = html`${value}`;
    expect(markup).not.toMatch(/[<>"']/);
    expect(markup).not.toMatch(/&(?!(?:amp|lt|gt|quot|#39);)/);
  });
});
