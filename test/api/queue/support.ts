/** What tests of the pages share. */

/** A value that would be markup, and how a page shows it. */
export const HOSTILE = `<img src=x onerror=alert(1)>"'&`;
export const SHOWN = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;';

/** Returns the text of a page, without its markup. */
export const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
