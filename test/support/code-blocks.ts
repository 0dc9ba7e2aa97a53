import { lexer, type Token, walkTokens } from 'marked';

/** A block of code in a Markdown page. */
export interface CodeBlock {
  page: string;
  /** Where it begins, from 1. */
  line: number;
  /** Its tag; empty for an indented block, and for one without a tag. */
  language: string;
  text: string;
}

/** @returns the blocks of code of a page, in their order, also those in lists and quotations */
export function codeBlocksOf(page: string, markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let from = 0;
  void walkTokens(lexer(markdown), (token: Token) => {
    if (token.type !== 'code') return;
    const text = String(token.text);
    const first = text.split('\n')[0] ?? '';
    const at = markdown.indexOf(first, from);
    from = at + text.length;
    const fence = token.codeBlockStyle === 'indented' ? 0 : 1;
    const line = markdown.slice(0, at).split('\n').length - fence;
    blocks.push({ page, line, language: /^\w+/.exec(String(token.lang ?? ''))?.[0] ?? '', text });
  });
  return blocks;
}

/** A block that isn't run, and why not. */
export interface NotRun {
  page: string;
  /** Words of the block. */
  has: string;
  because: string;
}

/**
 * @param runs the tags of what is run or otherwise looked at
 * @returns the blocks to run, and what is wrong: a block that is neither run nor listed, a listing of nothing
 */
export function planOf(blocks: readonly CodeBlock[], runs: readonly string[], notRun: readonly NotRun[]) {
  const isListed = (block: CodeBlock, { page, has }: NotRun) =>
    page === block.page && block.text.includes(has);
  const open = blocks.filter((block) => !notRun.some((entry) => isListed(block, entry)));
  const run = open.filter(({ language }) => runs.includes(language));
  const forgotten = open
    .filter((block) => !run.includes(block))
    .map(({ page, line, language }) => `${page}:${line} (${language || 'no tag'}) is neither run nor listed`);
  const stale = notRun
    .filter((entry) => !blocks.some((block) => isListed(block, entry)))
    .map(({ page, has }) => `${page}: no block has «${has}», which is listed as not run`);
  return { run, faults: [...forgotten, ...stale] };
}
