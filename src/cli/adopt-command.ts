/** `adopt`: adopts the orders of a CSV file, one per line, each from a transaction that exists at the screening service. */
import type { Command } from 'commander';
import { CsvError, parse } from 'csv-parse/sync';
import pc from 'picocolors';
import { z } from 'zod';
import { withoutCardNumbers } from '../card-data/card-numbers.ts';
import { adoptSchema } from '../client/read-requests.ts';
import type { CheckoutAnswer } from '../contract/answers.ts';
import { OrderScreeningError } from '../contract/errors.ts';
import type { OrderScreening, PortalOptions } from '../starter.ts';
import {
  ACTOR,
  actingAs,
  type CommandTools,
  defineCommand,
  flag,
  INTEGRATION,
  required,
} from './define-command.ts';
import {
  EXIT,
  type ExitCode,
  exitCodeOf,
  failedWord,
  type Problem,
  problemOf,
  UsageError,
} from './exit-codes.ts';
import { readText } from './input.ts';
import { colored, type Output, plain } from './output.ts';

const COLUMNS = Object.keys(adoptSchema.shape);
const REQUIRED = ['orderId', 'transactionId', 'screenedAt'];

/** Adoptions at the same time. More would slow down checkouts, and other users of the same API key. */
const AT_ONCE = 4;
interface Line {
  line: number;
  request: Record<string, unknown>;
  problem?: Problem;
}

type Outcome = { line: number; orderId: unknown; transactionId: unknown } & (
  | ({ adopted: boolean } & Pick<CheckoutAnswer, 'decision' | 'action' | 'phase' | 'cancelBy'>)
  | { adopted: false; problem: Problem }
);

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
      file: required('--file <path>', 'the file, in UTF-8; `-` is standard input', z.string()),
      dryRun: flag(
        '--dry-run',
        'show the answer that each line would get, and start nothing; needs the API key of the screening service',
      ),
      actor: ACTOR,
      integration: INTEGRATION,
    },
    examples: ['adopt --file orders.csv --dry-run', 'adopt --file orders.csv --json > adopted.jsonl'],
    run: async ({ file, dryRun = false, actor, integration }) => {
      const lines = readLines(await readText(file), integration);
      return withOrders((orders) => adoptAll(orders, lines, { dryRun, ...actingAs(actor) }, output));
    },
  });
}

type How = { dryRun: boolean } & Pick<PortalOptions, 'by'>;

/** Adopts the lines in the order of the file, a few concurrently, and writes each outcome at once. */
async function adoptAll(
  orders: OrderScreening,
  lines: readonly Line[],
  how: How,
  output: Output,
): Promise<ExitCode> {
  const left = lines.values();
  const codes: ExitCode[] = [];
  const some = async (): Promise<void> => {
    for (const line of left) {
      const { outcome, code } = await adopt(orders, line, how);
      output.line(outcome, () => inWords(outcome, code, how.dryRun));
      codes.push(code);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  const unanswered = codes.filter((one) => one === EXIT.unknownOutcome).length;
  const refused = codes.filter((one) => one !== EXIT.ok).length - unanswered;
  output.notice(`${codes.length} lines: ${refused} refused, ${unanswered} without an answer`);
  if (unanswered > 0) return EXIT.unknownOutcome;
  return refused > 0 ? EXIT.refused : EXIT.ok;
}

async function adopt(
  orders: OrderScreening,
  { line, request, problem }: Line,
  how: How,
): Promise<{ outcome: Outcome; code: ExitCode }> {
  const { orderId, transactionId } = request;
  const refused = (problem: Problem, code: ExitCode) => {
    // A refused value may be a card number in the wrong column.
    const masked = withoutCardNumbers(String(orderId ?? ''));
    const ids = { orderId: masked, transactionId: withoutCardNumbers(String(transactionId ?? '')) };
    return { outcome: { line, ...ids, adopted: false as const, problem }, code };
  };
  if (problem !== undefined) return refused(problem, EXIT.refused);
  try {
    const { decision, action, phase, cancelBy } = await orders.adopt(request, how);
    const answer = { decision, action, phase, ...(cancelBy && { cancelBy }) };
    return { outcome: { line, orderId, transactionId, adopted: !how.dryRun, ...answer }, code: EXIT.ok };
  } catch (error) {
    // Any other error concerns all orders.
    if (!(error instanceof OrderScreeningError)) throw error;
    return refused(problemOf(error), exitCodeOf(error));
  }
}

function inWords(outcome: Outcome, code: ExitCode, dryRun: boolean): string {
  const { line, orderId } = outcome;
  const begin = `line ${line}  ${plain(String(orderId ?? ''))}`;
  if ('problem' in outcome) {
    const { type, detail, errors = [] } = outcome.problem;
    const fieldErrors = errors.map(({ path, message }) => `; ${path} ${message}`).join('');
    return `${begin}  ${pc.red(failedWord(code))} ${plain(detail + fieldErrors)} ${pc.dim(`(${type})`)}`;
  }
  const { decision, action, phase } = outcome;
  const words = dryRun ? 'would be adopted' : 'adopted';
  return `${begin}  ${words}: ${colored(decision)}, ${colored(action)}, ${phase}`;
}

// The file.

/**
 * Reads the lines of a CSV file, separated by commas, semicolons or tabs. Empty cells are absent fields.
 * @param integration the default of lines that name none
 * @throws UsageError if the file is invalid; nothing was done then
 */
function readLines(content: string, integration: string | undefined): Line[] {
  const [head, ...rows] = recordsOf(content);
  const columns = head?.cells ?? [];
  const unknown = columns.filter((name) => !COLUMNS.includes(name));
  const missing = REQUIRED.filter((name) => !columns.includes(name));
  const messages = [
    ...unknown.map(() => `has a column that is none of ${COLUMNS.join(', ')}`),
    ...missing.map((name) => `lacks the column ${name}`),
    ...(new Set(columns).size < columns.length ? ['names a column twice'] : []),
  ];
  if (messages.length > 0) throw fileError('The first line must name the columns', messages);
  const seen = new Map<string, number>();
  return rows.map(({ line, cells }) => {
    const given = columns.flatMap((name, place) => (cells[place] ? [[name, cells[place]] as const] : []));
    const request: Record<string, unknown> = {
      ...(integration && { integration }),
      ...Object.fromEntries(given),
    };
    if (request.force === 'true' || request.force === 'false') request.force = request.force === 'true';
    const wrong =
      cells.length === columns.length
        ? repeats(request, line, seen)
        : `has ${cells.length} columns, not ${columns.length}`;
    const problem = wrong && { type: 'invalid-request' as const, detail: `The line ${wrong}` };
    return { line, request, ...(problem && { problem }) };
  });
}

/** Returns an error if an earlier line has the same order or transaction: it is unclear which line is right. */
function repeats(
  request: Record<string, unknown>,
  line: number,
  seen: Map<string, number>,
): string | undefined {
  const order = `order ${String(request.integration ?? '')} ${String(request.orderId)}`;
  for (const key of [order, `transaction ${String(request.transactionId).toLowerCase()}`]) {
    const before = seen.get(key);
    if (before !== undefined) return `names the same ${key.split(' ', 1)[0]} as line ${before}`;
    seen.set(key, line);
  }
  return undefined;
}

const recordsSchema = z.array(
  z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) }),
);

function recordsOf(content: string): { line: number; cells: string[] }[] {
  try {
    const records = parse(content, {
      bom: true,
      delimiter: [',', ';', '\t'],
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    });
    return recordsSchema.parse(records).map(({ record, info }) => ({ line: info.lines, cells: record }));
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
