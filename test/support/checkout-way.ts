/** The way of a checkout, as docs/architecture.md lists it. */
import { readFileSync } from 'node:fs';

/** The table under «The files of a checkout»: each file, and what it is reached from. */
export function wayOfACheckout(): { file: string; from: string }[] {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const section = page.slice(page.indexOf('### The files of a checkout'), page.indexOf('## The core'));
  const rows = section.matchAll(/^\| `(src\/[^`]+)` \|[^|]*\| `?([^|`]+)`? \|$/gm);
  return [...rows].map(([, file = '', from = '']) => ({ file, from }));
}
