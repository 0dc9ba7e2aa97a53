/** Output of the commands: tables for people, JSON for programs. */
import Table from 'cli-table3';
import pc from 'picocolors';
import { isLost } from '../client/reading/order-record.ts';
import type { AfterEnd } from '../contract/order/order.ts';
import type { OrderRecord } from '../contract/order/order-record.ts';
import type { FailedTries } from '../contract/order/state.ts';
import { isRecord } from '../contract/values.ts';
import { numberBeforeEvents } from '../order/record.ts';
import { cancelByOf, transactionOf } from '../order/transactions.ts';
import type { OrderList } from '../starter.ts';
import type { Problem } from './exit-codes.ts';

/** The output of a command: text for people, JSON for scripts, or a file. */
export interface Output {
  /** Writes an answer. @param words returns it as text for people; absent: its fields */
  answer(document: object, words?: () => string): void;
  /** Writes one of several answers; as JSON, on one line. */
  line(document: object, words: () => string): void;
  file(content: string): void;
  notice(words: string): void;
  problem(problem: Problem): void;
}

/** Reads the output form before the arguments are parsed, since argument errors use it, too. */
export function isJsonWanted(args: readonly string[], isTerminal: boolean): boolean {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (own.includes('--json')) return true;
  return !own.includes('--table') && !isTerminal;
}

/** @param file writes the whole text to standard output */
export function createOutput(json: boolean, file: Output['file']): Output {
  const write = (text: string) => file(`${text}\n`);
  const complain = (text: string) => process.stderr.write(`${text}\n`);
  return {
    answer: (document, words = () => showAnswer(document)) =>
      write(json ? JSON.stringify(document, undefined, 2) : words()),
    line: (document, words) => write(json ? JSON.stringify(document) : words()),
    file,
    notice: (words) => complain(json ? JSON.stringify({ notice: words }) : pc.dim(words)),
    problem: (problem) => complain(json ? JSON.stringify(problem) : inWords(problem)),
  };
}

/** @returns the text without control characters: texts of the screening service and of callers could move the cursor */
export function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

function inWords({ type, detail, errors = [], action, ...more }: Problem): string {
  const { cancelBy, serviceCode, serviceMessage } = more;
  const lines = [
    `${pc.red('Error')}: ${plain(detail)} ${pc.dim(`(${type})`)}`,
    ...errors.map(({ path, message }) => `  ${plain(path === '' ? message : `${path}: ${message}`)}`),
  ];
  if (action !== undefined) lines.push(`  The action until a repeat is answered: ${action}`);
  if (cancelBy !== undefined) lines.push(`  The cancel window: until ${cancelBy}`);
  if (serviceCode !== undefined || serviceMessage !== undefined) {
    lines.push(`  The screening service: ${plain([serviceCode, serviceMessage].filter(Boolean).join(' '))}`);
  }
  return lines.join('\n');
}

// Orders and answers for people. Only `facts` and `table` write values: they remove control characters and add colors.

type Value = string | number | undefined;
/** Values by their labels, in the order in which they are shown. */
export type Facts = Readonly<Record<string, Value>>;

/** Returns the fields of an answer by their names in JSON, and the fields of an object in it, such as a chargeback's. */
export const showAnswer = (answer: object): string => facts(factsOf(answer));

function factsOf(answer: object): Facts {
  const given = Object.entries(answer).flatMap(([name, value]): [string, unknown][] =>
    isRecord(value)
      ? Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one])
      : [[name, value]],
  );
  const isShown = (pair: [string, unknown]): pair is [string, string | number] =>
    ['string', 'number'].includes(typeof pair[1]);
  return Object.fromEntries(given.filter(isShown));
}

/** Returns the chargeback fields that the screening service echoed, in one line. */
function echoOf({ chargeback }: OrderRecord['actions'][number]): string | undefined {
  if (chargeback === undefined) return undefined;
  const fields = Object.entries(chargeback).map(([name, value]) => `${name} ${value}`);
  return fields.join(', ');
}

const LOST =
  'its workflow was terminated or timed out, so nothing reads or cancels the order (order-screening repair)';

/** Returns an order's state: what it is, what needs attention, its attempts and actions. */
export function showOrder(order: OrderRecord & { afterEnd?: AfterEnd }): string {
  const { attempts, actions, attention, journal = [], leftOut = {}, afterEnd } = order;
  const { last = [], sequence, waiting, delivered } = order.events;
  const newest = attempts.at(-1);
  const override = newest?.override;
  const missing = Object.entries(leftOut).map(([what, count]) => `${what}: ${count}`);
  const lines = attention.map(({ words, since }) => `  ${plain(words)} (since ${shortTime(since)})`);
  return [
    facts({
      order: `${order.orderId} (${order.integration}, ${order.workflow})`,
      phase: `${order.phase}, since ${shortTime(order.phaseSince)}`,
      lost: isLost(order) ? order.closedAt && `since ${shortTime(order.closedAt)}: ${LOST}` : undefined,
      decision: joined(order.decision, order.reason && `(${order.reason})`),
      action: order.action,
      'would be': order.wouldBe,
      override: override && `${override.action}, ${shortTime(override.at)} (${override.reason})`,
      message: order.message,
      held: order.held && (triesIn(order.held) ?? order.held.lastError),
      'assigned to': order.assignee,
      'snoozed until': shortTime(order.snoozedUntil),
      'cancel by': shortTime(newest && cancelByOf(order, newest)),
      'last read': order.lastRead && `${shortTime(order.lastRead.at)}, by ${order.lastRead.source}`,
      events: `${delivered} of ${sequence - numberBeforeEvents(order)} delivered`,
      'not shown': missing.length > 0 ? `${missing.join(', ')} (--full shows them)` : undefined,
    }),
    lines.length > 0 && [pc.red('Needs attention'), ...lines].join('\n'),
    table(attempts, (one) => ({
      attempt: one.number,
      decision: one.decision,
      transaction: transactionOf(order, one)?.id,
      gateway: one.gateway?.result,
    })),
    table(actions, (one) => ({
      number: one.number,
      'portal action': one.kind,
      status: one.status,
      asked: shortTime(one.requestedAt),
      by: one.by,
      service: joined(one.code, one.message, echoOf(one), triesIn(one)),
    })),
    table(journal, ({ at, what, by, because, ...one }) => ({
      when: shortTime(at),
      what: joined(what, one.number ?? one.action ?? one.assignee ?? one.until, one.joined && '(joined)'),
      key: by?.key,
      'person, as claimed': by?.actor,
      why: because,
    })),
    table(last, (one) => ({
      number: one.sequence,
      event: one.type,
      of: shortTime(one.occurredAt),
      'waits to be delivered': one.sequence > sequence - waiting ? 'yes' : undefined,
    })),
    afterEnd && showAfterEnd(afterEnd),
  ]
    .filter((part) => part)
    .join('\n\n');
}

function triesIn({ tries, lastError, nextTryAt }: FailedTries): string | undefined {
  if (tries === undefined) return undefined;
  return joined(`${tries} failed: ${lastError}`, nextTryAt && `(next ${shortTime(nextTryAt)})`);
}

function showAfterEnd({ decisions, actions, redeliveries, incomplete }: AfterEnd): string {
  const rows = [
    ...decisions.map(({ at, decision, action }) => [at, `decision ${decision}`, action]),
    ...actions.map((one) => [
      one.requestedAt,
      one.kind,
      joined(one.status, one.code, one.message, triesIn(one)),
    ]),
    ...redeliveries.map((one) => [one.requestedAt, `event ${one.sequence} sent again`, one.status]),
  ].toSorted(([one = ''], [other = '']) => one.localeCompare(other));
  const shown = table(rows, ([at, what, outcome]) => ({
    'after the end': what,
    when: shortTime(at),
    outcome,
  }));
  return incomplete ? `${shown}\nNot everything could be read this time: show the order again.` : shown;
}

/** Returns a page of orders as a table, with the option for the next page. */
export function showList({ orders, cursor }: OrderList): string {
  if (orders.length === 0) return pc.dim('No orders.');
  const shown = table(orders, (order) => ({
    order: order.orderId,
    integration: order.integration,
    phase: isLost(order) ? `${order.phase} (lost)` : order.phase,
    decision: order.decision,
    action: order.action,
    attention: order.problem ?? (order.needsAttention ? 'yes' : undefined),
    amount: order.amount?.toFixed(2),
    'cancel by': shortTime(order.cancelBy),
  }));
  return cursor === undefined ? shown : `${shown}\n${pc.dim(`More: --cursor ${cursor}`)}`;
}

function joined(...values: Value[]): string | undefined {
  return values.filter((value) => value !== undefined && value !== '').join(' ') || undefined;
}

/** Returns labels and values in two columns, without undefined values. */
export function facts(values: Facts): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const width = Math.max(...given.map(([label]) => label.length));
  return given.map(([label, value]) => `${label.padEnd(width)}  ${cell(label, value)}`).join('\n');
}

/** Returns the answer about one of several orders in one line. */
export function answerLine(orderId: string, answer: object): string {
  const values = Object.entries(factsOf({ ...answer, orderId: undefined }));
  return `${plain(orderId)}  ${values.map(([name, value]) => `${name} ${plain(String(value))}`).join(', ')}`;
}

function table<Entry>(entries: readonly Entry[], rowOf: (entry: Entry) => Facts): string {
  const rows = entries.map((entry) => Object.entries(rowOf(entry)));
  const [first] = rows;
  if (first === undefined) return '';
  const head = first.map(([label]) => label);
  const made = new Table({ head, style: { head: [], border: [], compact: true } });
  made.push(...rows.map((row) => row.map(([label, value]) => cell(label, value ?? '-'))));
  return made.toString();
}

const COLORED: ReadonlySet<string> = new Set(['decision', 'action', 'status', 'attention']);

function cell(label: string, value: Value): string {
  const text = plain(String(value));
  return COLORED.has(label) && text !== '-' ? colored(text) : text;
}

function shortTime(at: string | undefined): string | undefined {
  return at?.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
}

/** Colors a word: green is good, yellow is pending, red needs a look. */
export function colored(word: string): string {
  if (['pass', 'proceed', 'done'].includes(word)) return pc.green(word);
  if (['review', 'hold', 'pending', 'requested', 'queued', 'running'].includes(word)) {
    return pc.yellow(word);
  }
  if (word === 'skipped' || word === 'withdrawn') return pc.dim(word);
  return pc.red(word);
}
