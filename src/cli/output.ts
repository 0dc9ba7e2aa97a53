/** What commands print: tables for people, JSON for programs. */
import Table from 'cli-table3';
import pc from 'picocolors';
import { DAY_DECISIONS, type Days } from '../client/list-orders.ts';
import type { CheckoutAnswer, GatewayResultAnswer, PortalAnswer } from '../contract/answers.ts';
import type { AfterEnd } from '../contract/order.ts';
import type { OrderRecord } from '../contract/order-record.ts';
import { cancelByOf, transactionOf } from '../orders/transactions.ts';
import type { OrderList, OrderSummary } from '../starter.ts';
import type { Problem } from './exit-codes.ts';

export type Colors = typeof pc;

/** Where a command writes: words for people, JSON for scripts, or a file, one of them only. */
export interface Output {
  readonly json: boolean;
  readonly colors: Colors;
  /** Writes an answer. @param words makes the same for people */
  answer(document: unknown, words: () => string): void;
  /** Writes one of several answers, as one line of JSON. */
  line(document: unknown, words: () => string): void;
  /** Writes a file as it is, neither words nor JSON. */
  file(content: string): void;
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

/** @param file writes to standard output, whole */
export function createOutput(json: boolean, file: Output['file']): Output {
  const write = (text: string) => file(`${text}\n`);
  const complain = (text: string) => process.stderr.write(`${text}\n`);
  return {
    json,
    colors: pc,
    answer: (document, words) => write(json ? JSON.stringify(document, undefined, 2) : words()),
    line: (document, words) => write(json ? JSON.stringify(document) : words()),
    file,
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

// Orders and answers for people.

export type Row = readonly [label: string, value: string | number | undefined];

/** @returns the answer to a checkout or to a gateway result */
export function showAnswer(answer: CheckoutAnswer | GatewayResultAnswer, colors: Colors): string {
  const { message, reason, wouldBe }: Partial<CheckoutAnswer> = answer;
  return facts([
    ['order', `${answer.orderId} (${answer.integration}), attempt ${answer.attempt}`],
    ['decision', colored(answer.decision, colors)],
    ['action', colored(answer.action, colors)],
    ['would be', wouldBe],
    ['phase', answer.phase],
    ['reason', reason],
    ['message', message && plain(message)],
    ['transaction', answer.transactionId],
    ['cancel by', shortTime(answer.cancelBy)],
  ]);
}

/** @returns the answer of a portal action */
export function showPortalAnswer(answer: PortalAnswer, colors: Colors): string {
  return facts([
    ['order', answer.orderId],
    ['asked', answer.kind],
    ['number', answer.number],
    ['status', colored(answer.status, colors)],
    ['transaction', answer.transactionId],
    ['service', plain([answer.code, answer.message].filter(Boolean).join(' ')) || undefined],
    ['chargeback', echoOf(answer)],
    ['at', shortTime(answer.at)],
    ['phase', answer.phase],
    ['action', answer.action && colored(answer.action, colors)],
  ]);
}

/** What the service echoed of a chargeback, in one line. */
function echoOf({ chargeback }: Pick<PortalAnswer, 'chargeback'>): string | undefined {
  if (chargeback === undefined) return undefined;
  const fields = Object.entries(chargeback).map(([name, value]) => `${name} ${value}`);
  return plain(fields.join(', '));
}

/** @returns an order's state: what it is, what needs attention, its attempts and actions */
export function showOrder(order: OrderRecord & { afterEnd?: AfterEnd }, colors: Colors): string {
  const { attempts, actions, attention } = order;
  const newest = attempts.at(-1);
  const override = newest?.override;
  const parts = [
    facts([
      ['order', `${plain(order.orderId)} (${order.integration}, ${order.workflow})`],
      ['phase', `${order.phase}, since ${shortTime(order.phaseSince)}`],
      ['decision', colored(order.decision, colors) + (order.reason ? ` (${order.reason})` : '')],
      ['action', colored(order.action, colors)],
      ['would be', order.wouldBe],
      ['override', override && `${override.action}, ${shortTime(override.at)} (${plain(override.reason)})`],
      ['message', order.message && plain(order.message)],
      ['cancel by', shortTime(newest && cancelByOf(order, newest))],
      ['last read', order.lastRead && `${shortTime(order.lastRead.at)}, by ${order.lastRead.source}`],
      ['events', `${order.events.delivered} of ${order.events.sequence} delivered`],
      ['not shown', leftOutOf(order)],
    ]),
  ];
  if (attention.length > 0) {
    const lines = attention.map(({ words, since }) => `  ${plain(words)} (since ${shortTime(since)})`);
    parts.push([colors.red('Needs attention'), ...lines].join('\n'));
  }
  parts.push(
    table(
      ['attempt', 'decision', 'transaction', 'gateway'],
      attempts.map((one) => [
        `${one.number}`,
        colored(one.decision, colors),
        transactionOf(order, one)?.id ?? '-',
        one.gateway?.result ?? '-',
      ]),
    ),
  );
  if (actions.length > 0) {
    parts.push(
      table(
        ['number', 'portal action', 'status', 'asked', 'by', 'service'],
        actions.map((one) => [
          `${one.number}`,
          one.kind,
          colored(one.status, colors),
          shortTime(one.requestedAt) ?? '-',
          one.by,
          plain([one.code, one.message].filter(Boolean).join(' ') || '-') +
            (one.chargeback === undefined ? '' : `\n${echoOf(one)}`),
        ]),
      ),
    );
  }
  const { journal = [] } = order;
  if (journal.length > 0) {
    parts.push(
      table(
        ['when', 'what', 'key', 'person, as claimed', 'why'],
        journal.map(({ at, what, number, action, by, because }) => [
          shortTime(at) ?? '-',
          [what, number ?? action].filter((one) => one !== undefined).join(' '),
          plain(by?.key ?? '-'),
          plain(by?.actor ?? '-'),
          plain(because ?? '-'),
        ]),
      ),
    );
  }
  const { last = [], sequence, waiting } = order.events;
  if (last.length > 0) {
    parts.push(
      table(
        ['number', 'event', 'of', 'waits to be delivered'],
        last.map((one) => [
          `${one.sequence}`,
          one.type,
          shortTime(one.occurredAt) ?? '-',
          one.sequence > sequence - waiting ? 'yes' : '-',
        ]),
      ),
    );
  }
  if (order.afterEnd !== undefined) parts.push(showAfterEnd(order.afterEnd));
  return parts.join('\n\n');
}

/** What came after the order's end, the oldest first. */
function showAfterEnd({ decisions, actions, redeliveries, incomplete }: AfterEnd): string {
  const rows = [
    ...decisions.map(({ at, decision, action }) => ({ at, what: `decision ${decision}`, outcome: action })),
    ...actions.map(({ requestedAt, kind, status, code, message }) => ({
      at: requestedAt,
      what: kind,
      outcome: plain([status, code, message].filter(Boolean).join(' ')),
    })),
    ...redeliveries.map(({ requestedAt, sequence, status }) => ({
      at: requestedAt,
      what: `event ${sequence} sent again`,
      outcome: status,
    })),
  ].toSorted((one, other) => one.at.localeCompare(other.at));
  const shown = table(
    ['after the end', 'when', 'outcome'],
    rows.map(({ at, what, outcome }) => [what, shortTime(at) ?? '-', outcome]),
  );
  return incomplete ? `${shown}\nNot everything could be read this time: show the order again.` : shown;
}

function leftOutOf({ leftOut = {} }: OrderRecord): string | undefined {
  const counts = Object.entries(leftOut).map(([what, count]) => `${what}: ${count}`);
  return counts.length === 0 ? undefined : `${counts.join(', ')} (--full shows them)`;
}

/** @returns a page of orders as a table, and how the next one is asked for */
export function showList({ orders, cursor }: OrderList, colors: Colors): string {
  if (orders.length === 0) return colors.dim('No orders.');
  const shown = table(
    ['order', 'integration', 'phase', 'decision', 'action', 'attention', 'amount', 'cancel by'],
    orders.map((order) => listRow(order, colors)),
  );
  return cursor === undefined ? shown : `${shown}\n${colors.dim(`More: --cursor ${cursor}`)}`;
}

function listRow(order: OrderSummary, colors: Colors): string[] {
  return [
    plain(order.orderId),
    plain(order.integration),
    order.phase ?? '-',
    order.decision === undefined ? '-' : colored(order.decision, colors),
    order.action === undefined ? '-' : colored(order.action, colors),
    colors.red(order.problem ?? (order.needsAttention ? 'yes' : '')) || '-',
    order.amount === undefined ? '-' : order.amount.toFixed(2),
    shortTime(order.cancelBy) ?? '-',
  ];
}

/** @returns the last days as a table, the newest first, each with the open reviews that came then */
export function showDays({ days, older }: Days): string {
  const rows = days.map(({ from, counts, openReviews }) => [
    shortTime(from) ?? '-',
    ...DAY_DECISIONS.map((decision) => `${counts[decision]}`),
    `${openReviews}`,
  ]);
  const before = ['older', ...DAY_DECISIONS.map(() => ''), `${older}`];
  return table(['24 hours from', ...DAY_DECISIONS, 'in review still'], [...rows, before]);
}

/** @returns labels and values in two columns; what is undefined is left out */
export function facts(rows: readonly Row[]): string {
  const given = rows.filter((row): row is [string, string | number] => row[1] !== undefined);
  const width = Math.max(...given.map(([label]) => label.length));
  return given.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n');
}

/** @returns one of several orders in one line; what is undefined is left out */
export function factsOf(orderId: string, rows: readonly Row[]): string {
  const given = rows.filter(([, value]) => value !== undefined);
  return `${plain(orderId)}  ${given.map(([label, value]) => `${label} ${plain(String(value))}`).join(', ')}`;
}

export function table(head: string[], rows: string[][]): string {
  const made = new Table({ head, style: { head: [], border: [], compact: true } });
  made.push(...rows);
  return made.toString();
}

/** @returns a moment to the second, in UTC */
export function shortTime(at: string | undefined): string | undefined {
  return at?.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
}

/** A word of the product in the colour of how good the news is. */
export function colored(word: string, colors: Colors): string {
  if (['pass', 'proceed', 'done'].includes(word)) return colors.green(word);
  if (['review', 'hold', 'pending', 'requested', 'queued', 'running'].includes(word)) {
    return colors.yellow(word);
  }
  if (word === 'skipped' || word === 'withdrawn') return colors.dim(word);
  return colors.red(word);
}
