/** `adopt`: adopts the orders of a CSV file, one per line, each from a transaction that exists at the screening service. */
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { CsvError, parse } from 'csv-parse/sync';
import pc from 'picocolors';
import { z } from 'zod';
import { withoutCardNumbers } from '../card-data/card-numbers.ts';
import { adoptSchema } from '../client/read-adopt-request.ts';
import { OrderScreeningError } from '../contract/errors.ts';
import { defined } from '../order/defined.ts';
import type { OrderScreening } from '../starter.ts';
import {
  ACTOR,
  actingAs,
  type CommandTools,
  defineCommand,
  flag,
  INTEGRATION,
  required,
} from './define-command.ts';
import { EXIT, type ExitCode, failureOf, UsageError } from './exit-codes.ts';
import { readText } from './input.ts';
import { colored, plain } from './output.ts';

const COLUMNS = Object.keys(adoptSchema.shape);
const REQUIRED = ['orderId', 'transactionId', 'screenedAt'];

/** Adoptions at the same time. More would slow down checkouts, and other users of the same API key. */
const AT_ONCE = 4;

interface Line {
  line: number;
  request: Record<string, unknown>;
  /** Why the line can't be sent. */
  wrong?: string | undefined;
}

export function adoptCommand(program: Command, { output, withOrders }: CommandTools): void {
  defineCommand(program, {
    name: 'adopt',
    summary:
      'Adopt orders from a CSV file: start each from a transaction that exists at the screening service',
    more: [
      `The first line names the columns: ${COLUMNS.join(', ')}.`,
      `${REQUIRED.join(', ')} are required. A refused line doesn't stop the others. Running the same file again is safe:`,
      'adopted orders get the same answer. Exit code 3 if a line was refused, 5 if one had no answer.',
    ].join('\n'),
    options: {
      file: required(z.string(), 'path', 'the file, in UTF-8; `-` is standard input'),
      dryRun: flag(
        'show the answer that each line would get, and start nothing; needs the API key of the screening service',
      ),
      actor: ACTOR,
      integration: INTEGRATION,
    },
    examples: ['adopt --file orders.csv --dry-run', 'adopt --file orders.csv --json > adopted.jsonl'],
    run: async ({ file, dryRun = false, actor, integration }) => {
      const lines = readLines(await readText(file), integration);
      const how = { dryRun, ...actingAs(actor) };

      async function adopt(orders: OrderScreening, { line, request, wrong }: Line): Promise<ExitCode> {
        try {
          if (wrong !== undefined) throw new OrderScreeningError('invalid-request', `The line ${wrong}`);
          const { decision, action, phase, cancelBy } = await orders.adopt(request, how);
          const { orderId, transactionId } = request;
          const answer = defined({ decision, action, phase, cancelBy });
          output.line({ line, orderId, transactionId, adopted: !dryRun, ...answer }, () => {
            const words = `${colored(decision)}, ${colored(action)}, ${phase}`;
            return `line ${line}  ${plain(`${orderId}`)}  ${dryRun ? 'would be adopted' : 'adopted'}: ${words}`;
          });
          return EXIT.ok;
        } catch (error) {
          // Any other error concerns all orders.
          if (!(error instanceof OrderScreeningError)) throw error;
          const { problem, code, word } = failureOf(error);
          // A refused value may be a card number in the wrong column.
          const masked = (id: unknown) => withoutCardNumbers(String(id ?? ''));
          const orderId = masked(request.orderId);
          const transactionId = masked(request.transactionId);
          output.line({ line, orderId, transactionId, adopted: false, problem }, () => {
            const { type, detail, errors = [] } = problem;
            const words = detail + errors.map(({ path, message }) => `; ${path} ${message}`).join('');
            return `line ${line}  ${plain(orderId)}  ${pc.red(word)} ${plain(words)} ${pc.dim(`(${type})`)}`;
          });
          return code;
        }
      }

      return withOrders(async (orders) => {
        // Each of a few takes the next line in the order of the file, and writes its outcome at once.
        const left = lines.values();
        const codes: ExitCode[] = [];
        const some = async (): Promise<void> => {
          for (const line of left) codes.push(await adopt(orders, line));
        };
        await Promise.all(Array.from({ length: AT_ONCE }, some));
        const unanswered = codes.filter((one) => one === EXIT.unknownOutcome).length;
        const refused = codes.filter((one) => one !== EXIT.ok).length - unanswered;
        output.notice(`${codes.length} lines: ${refused} refused, ${unanswered} without an answer`);
        if (unanswered > 0) return EXIT.unknownOutcome;
        return refused > 0 ? EXIT.refused : EXIT.ok;
      });
    },
  });
}

/**
 * Reads the lines of a CSV file, separated by commas, semicolons or tabs. Empty cells are absent fields.
 * @param integration the default of lines that name none
 * @throws UsageError if the file is invalid; nothing was done then
 */
function readLines(content: string, integration: string | undefined): Line[] {
  const [head, ...rows] = recordsOf(content);
  const columns = head?.cells ?? [];
  const messages = [
    ...columns
      .filter((name) => !COLUMNS.includes(name))
      .map(() => `has a column that is none of ${COLUMNS.join(', ')}`),
    ...REQUIRED.filter((name) => !columns.includes(name)).map((name) => `lacks the column ${name}`),
    ...(new Set(columns).size < columns.length ? ['names a column twice'] : []),
  ];
  if (messages.length > 0) throw fileError('The first line must name the columns', messages);
  const lines = rows.map(({ line, cells }): Line => {
    const given = columns.map((name, place) => [name, cells[place]]).filter(([, cell]) => cell);
    const request: Record<string, unknown> = { ...defined({ integration }), ...Object.fromEntries(given) };
    if (request.force === 'true' || request.force === 'false') request.force = request.force === 'true';
    const wrong =
      cells.length === columns.length ? undefined : `has ${cells.length} columns, not ${columns.length}`;
    return { line, request, wrong };
  });
  refuseRepeats(lines.filter(({ wrong }) => wrong === undefined));
  return lines;
}

/**
 * Refuses all lines with the same order or transaction, since it is unclear which of them is right. Of equal lines it refuses the
 * repeats only.
 */
function refuseRepeats(lines: readonly Line[]): void {
  const names = {
    transaction: ({ transactionId }: Line['request']) =>
      transactionId ? String(transactionId).toLowerCase() : undefined,
    order: ({ integration = '', orderId }: Line['request']) =>
      orderId ? `${integration} ${orderId}` : undefined,
  };
  for (const [what, nameOf] of Object.entries(names)) {
    const same = new Map<string, Line[]>();
    for (const one of lines) {
      const name = nameOf(one.request);
      if (name) same.set(name, [...(same.get(name) ?? []), one]);
    }
    for (const [first, ...others] of same.values()) {
      if (first === undefined) continue;
      for (const other of others) other.wrong = `names the same ${what} as line ${first.line}`;
      const different = others.find(({ request }) => !isDeepStrictEqual(request, first.request));
      if (different !== undefined) first.wrong = `names the same ${what} as line ${different.line}`;
    }
  }
}

function recordsOf(content: string): { line: number; cells: string[] }[] {
  const records: { line: number; cells: string[] }[] = [];
  try {
    parse(content, {
      bom: true,
      delimiter: [',', ';', '\t'],
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      on_record: (cells: string[], { lines }) => {
        records.push({ line: lines, cells });
        return null;
      },
    });
    return records;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser's message would quote the content.
    throw fileError('The file is not valid CSV', [`can't be read (${error.code})`]);
  }
}

function fileError(detail: string, messages: string[]): UsageError {
  return new UsageError(
    detail,
    messages.map((message) => ({ path: '--file', message })),
  );
}
