import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lexer, type Token, walkTokens } from 'marked';
import { expect, it } from 'vitest';
import { pagesOf, ROOT } from '../support/pages.ts';

const FOLDERS = ['src', 'test', 'docs', 'examples', 'deploy', 'tools', 'bin'];

function tokensOf(page: string): Token[] {
  const tokens: Token[] = [];
  void walkTokens(lexer(readFileSync(ROOT + page, 'utf8')), (token) => {
    tokens.push(token);
  });
  return tokens;
}

/** @returns the anchors of a page's headings, as GitHub makes them */
function anchorsOf(page: string): string[] {
  return tokensOf(page).flatMap((token) =>
    token.type === 'heading'
      ? String(token.text)
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-')
      : [],
  );
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
  const links = tokensOf(page).flatMap((token) =>
    token.type === 'link' || token.type === 'image' ? String(token.href) : [],
  );
  const broken = links
    .filter((href) => !/^[a-z]+:/.test(href))
    .filter((href) => {
      const [path = '', anchor] = href.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      return !existsSync(ROOT + target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
  expect(broken).toEqual([]);
});

it.each(pagesOf())('%s names files that are there', (page) => {
  const named = tokensOf(page).flatMap((token) => (token.type === 'codespan' ? String(token.text) : []));
  const paths = named.filter((text) => FOLDERS.some((folder) => text.startsWith(`${folder}/`)));
  expect(paths.filter((path) => !/\s/.test(path) && !isThere(path))).toEqual([]);
});
