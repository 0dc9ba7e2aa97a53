import pc from 'picocolors';
import type { Problem } from './exit-codes.ts';

export type Colors = typeof pc;

/** Where a command writes: words for people, or JSON for scripts, never both. */
export interface Output {
  readonly json: boolean;
  readonly colors: Colors;
  /** Writes an answer. @param words makes the same for people */
  answer(document: unknown, words: () => string): void;
  /** Writes one of several answers, as one line of JSON. */
  line(document: unknown, words: () => string): void;
  /** Says on standard error that something goes on that isn't the answer. */
  notice(words: string): void;
  /** Says on standard error what went wrong. */
  problem(problem: Problem): void;
}

/** Asked before the arguments are parsed, since wrong arguments are told in the same form. */
export function isJsonWanted(args: readonly string[], isTerminal: boolean): boolean {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (own.includes('--json')) return true;
  return !own.includes('--table') && !isTerminal;
}

export function createOutput(json: boolean): Output {
  const write = (text: string) => process.stdout.write(`${text}\n`);
  const complain = (text: string) => process.stderr.write(`${text}\n`);
  return {
    json,
    colors: pc,
    answer: (document, words) => write(json ? JSON.stringify(document, undefined, 2) : words()),
    line: (document, words) => write(json ? JSON.stringify(document) : words()),
    notice: (words) => complain(json ? JSON.stringify({ notice: words }) : pc.dim(words)),
    problem: (problem) => complain(json ? JSON.stringify(problem) : inWords(problem)),
  };
}

/** @returns text that can't move the cursor: words of the service and of callers are shown too */
export function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

function inWords({ type, detail, errors = [], cancelBy, serviceCode, serviceMessage }: Problem): string {
  const lines = [
    `${pc.red('Error')}: ${plain(detail)} ${pc.dim(`(${type})`)}`,
    ...errors.map(({ path, message }) => `  ${plain(path === '' ? message : `${path}: ${message}`)}`),
  ];
  if (cancelBy !== undefined) lines.push(`  The cancel window: until ${cancelBy}`);
  if (serviceCode !== undefined || serviceMessage !== undefined) {
    lines.push(`  The screening service: ${plain([serviceCode, serviceMessage].filter(Boolean).join(' '))}`);
  }
  return lines.join('\n');
}
