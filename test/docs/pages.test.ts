import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lexer, type Token, walkTokens } from 'marked';
import { expect, it } from 'vitest';
import { aClient } from '../client/fake-temporal.ts';
import { codeBlocksOf } from '../support/code-blocks.ts';
import { pagesOf, ROOT } from '../support/pages.ts';

const FOLDERS = ['src', 'test', 'docs', 'examples', 'deploy', 'tools', 'bin'];

/** The rest of the orders in the API's documentation. */
const EXAMPLE = 'src/contract/example-transaction.ts';

const read = (path: string) => readFileSync(ROOT + path, 'utf8');

/** @returns a field of each token of these types in a page */
function fieldsOf(page: string, field: 'text' | 'href', types: readonly string[]): string[] {
  const found: string[] = [];
  void walkTokens(lexer(read(page)), (token: Token) => {
    if (types.includes(token.type)) found.push(String(Reflect.get(token, field)));
  });
  return found;
}

/** @returns the anchors of a page's headings, as GitHub makes them */
function anchorsOf(page: string): string[] {
  const headings = fieldsOf(page, 'text', ['heading']).map((text) => text.toLowerCase());
  return headings.map((text) => text.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}

const files = FOLDERS.flatMap((folder) => [
  folder,
  ...readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
]);

/** @returns whether there is such a file or folder; `*` stands for any part of a name, `<…>` and `…` for what differs */
function isThere(path: string): boolean {
  const escaped = path.replace(/\/$/, '').replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`^${escaped.replaceAll(/\*|<[^>]*>|…/g, '[^/]*')}$`);
  return files.some((file) => pattern.test(file));
}

it.each(pagesOf())('%s links to files and headings that are there', (page) => {
  const broken = fieldsOf(page, 'href', ['link', 'image'])
    .filter((href) => !/^[a-z]+:/.test(href))
    .filter((href) => {
      const [path = '', anchor] = href.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      return !existsSync(ROOT + target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
  expect(broken).toEqual([]);
});

it.each(pagesOf())('%s names files that are there', (page) => {
  const named = fieldsOf(page, 'text', ['codespan']);
  const paths = named.filter((text) => FOLDERS.some((folder) => text.startsWith(`${folder}/`)));
  expect(paths.filter((path) => !/\s/.test(path) && !isThere(path))).toEqual([]);
});

it('the page for callers has every method of the client library', () => {
  const [, table = ''] = /\n\| method \|([\s\S]*?)\n\n/.exec(read('docs/calling.md')) ?? [];
  const [, ...rows] = table.split('\n| ').map((row) => row.split(' | ')[0] ?? '');
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual(Object.keys(aClient().orderScreening).sort());
});

/** The minimum of a billing address by the interface of the screening service. */
const BILL_TO = ['firstName', 'lastName', 'address', 'city', 'state', 'zip', 'country', 'phoneNumber'];
const examples = [
  ...pagesOf().flatMap((page) =>
    codeBlocksOf(page, read(page)).map(({ line, text }) => ({ where: `${page}:${line}`, text })),
  ),
  ...[...readdirSync(`${ROOT}examples/orders`).map((name) => `examples/orders/${name}`), EXAMPLE].map(
    (where) => ({ where, text: read(where) }),
  ),
].filter(({ text }) => /\b(?:billTo|customerIP)"?:/.test(text));

it('the examples of the quick starts, the guide and the order service are looked at', () => {
  const files = new Set(examples.map(({ where }) => where.replace(/:\d+$/, '')));
  for (const file of ['README.md', 'docs/calling.md', 'examples/orders/pass.json', EXAMPLE])
    expect(files).toContain(file);
});

it.each(examples)('$where has the billing address and the IP address that each order needs', ({ text }) => {
  const addresses = [...text.matchAll(/\bbillTo"?:\s*\{([^}]*)\}/g)].map(([, fields = '']) => fields);
  expect(addresses).toHaveLength([...text.matchAll(/\bcustomerIP"?:\s*["'][\d.]+["']/g)].length);
  expect(addresses).not.toEqual([]);
  for (const fields of addresses) {
    const missing = BILL_TO.filter((name) => !new RegExp(`\\b${name}"?:\\s*["'][^"']+["']`).test(fields));
    expect(missing).toEqual([]);
  }
});

it.each([
  [
    'SECURITY.md',
    'where to report a vulnerability',
    /\*\*Report a vulnerability privately\*\*: open a security advisory/,
  ],
  ['SECURITY.md', 'when to expect an answer', /You get an answer within \w+ working days/],
  ['README.md', 'that decline means void or refund', /^\| `decline` \|.*void or refund a payment/m],
  ['README.md', 'that cancel means void or refund', /^\| `cancel` \|.*void or refund/m],
])('%s says %s', (page, _what, words) => {
  expect(read(page)).toMatch(words);
});

const diffs = pagesOf()
  .flatMap((page) => codeBlocksOf(page, read(page)))
  .filter(({ language }) => language === 'diff');

it.each(diffs)('the diff at $page:$line fits the file that it names', ({ text }) => {
  const [first = '', ...lines] = text.split('\n');
  const path = /^\+\+\+ b\/(\S+)$/.exec(first)?.[1] ?? '';
  const before = lines.filter((line) => /^[ -]/.test(line)).map((line) => line.slice(1));
  expect(before).not.toEqual([]);
  expect(read(path)).toContain(`\n${before.join('\n')}\n`);
});
