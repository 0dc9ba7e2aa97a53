/** Generates the tables in the docs from the tables in the code: `npm run docs`. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { TypedSearchAttributes } from '@temporalio/common';
import { z } from 'zod';
import { exitCodeOf } from '../../src/cli/exit-codes.ts';
import { documentedVariables } from '../../src/config/environment.ts';
import { integrationKeys } from '../../src/config/policy-schema.ts';
import { isOrderErrorCode, ORDER_ERRORS, OrderScreeningError } from '../../src/contract/errors.ts';
import { ORDER_EVENTS } from '../../src/contract/words.ts';
import { METRICS } from '../../src/order/view/metrics.ts';
import { orderSearchAttributes } from '../../src/order/view/search-attributes.ts';

type Row = readonly string[];

const policyKeys = z.toJSONSchema(integrationKeys, { io: 'input' });

/** Each table by its name in the pages; the first row is the header. */
export const TABLES: Record<string, () => Row[]> = {
  variables: () => [
    ['variable', 'default', 'read by', 'meaning'],
    ...documentedVariables().map(({ name, about, fallback, readBy, secret }) => [
      code(name),
      fallback === undefined ? '–' : code(fallback),
      readBy.join(', '),
      secret ? `${about} (secret)` : about,
    ]),
  ],
  'policy keys': () => [
    ['key', 'default', 'meaning'],
    ...Object.entries(policyKeys.properties ?? {}).map(([name, key]) => {
      const { default: standard, fallback = standard, description = '' } = typeof key === 'object' ? key : {};
      const missing = policyKeys.required?.includes(name) ? 'required' : '–';
      return [code(name), fallback === undefined ? missing : code(asWritten(fallback)), description];
    }),
  ],
  events: () => [['type', 'when'], ...Object.entries(ORDER_EVENTS).map(([type, when]) => [code(type), when])],
  metrics: () => [
    ['metric', 'from', 'what'],
    ...Object.entries(METRICS).map(([name, { from, about }]) => [code(name), from, about]),
  ],
  'search attributes': () => [
    ['attribute', 'type', 'what'],
    ...orderSearchAttributes.map(({ name, type, about }) => [
      code(name),
      TypedSearchAttributes.toMetadataType(type),
      about,
    ]),
  ],
  'order errors': () => [
    ['`code`', 'HTTP', 'exit code', 'what to do'],
    ...Object.keys(ORDER_ERRORS)
      .filter(isOrderErrorCode)
      .map((name) => [
        code(name),
        `${ORDER_ERRORS[name].status}`,
        `${exitCodeOf(new OrderScreeningError(name, ''))}`,
        ORDER_ERRORS[name].advice,
      ]),
  ],
};

const BLOCK = /<!-- table: (.+?) -->\n[\s\S]*?<!-- end of table -->/g;

/** @returns the page with its tables generated again @throws Error for an unknown table name */
export function withTables(page: string): string {
  return page.replaceAll(BLOCK, (_block, name: string) => {
    const rows = TABLES[name]?.();
    if (rows === undefined) throw new Error(`Unknown table «${name}» in a page`);
    return `<!-- table: ${name} -->\n${markdown(rows)}\n<!-- end of table -->`;
  });
}

function markdown([head = [], ...rows]: Row[]): string {
  const line = (cells: Row) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Formats a value: text without quotes, an object on one line with spaces. */
function asWritten(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/([{[]) | ([}\]])/g, '$1$2');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
  for (const name of await readdir(docs)) {
    if (!name.endsWith('.md')) continue;
    const page = await readFile(docs + name, 'utf8');
    const made = withTables(page);
    if (made !== page) await writeFile(docs + name, made);
  }
}
