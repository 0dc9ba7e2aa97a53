/** `watch`: shows the changes of an order until it rests, or of the list until Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { orderIdSchema } from '../client/read-requests.ts';
import { OrderScreeningError } from '../contract/errors.ts';
import type { OrderState } from '../contract/state.ts';
import type { Phase } from '../contract/words.ts';
import { isUnderWay } from '../orders/portal-requests.ts';
import { cancelByOf, transactionOf } from '../orders/transactions.ts';
import type { ListRequest, OrderName, OrderScreening, OrderSummary } from '../starter.ts';
import { type CommandTools, defineCommand, option } from './define-command.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { seconds } from './input.ts';
import { FILTERS, LIMIT, requestOf } from './order-commands.ts';
import { colored, type Output, plain, shortTime, showList } from './output.ts';

/** Phases without further automatic steps soon, unless a portal action is running. */
const RESTING: ReadonlySet<Phase> = new Set(['declined', 'decided', 'canceled', 'closed']);

/** How long and how often to look. */
interface Pace {
  /** In milliseconds after the epoch. */
  until: number;
  everyMs: number;
}

export function watchCommand(program: Command, { output, withOrders }: CommandTools): void {
  defineCommand(program, {
    name: 'watch [orderId]',
    summary: 'Watch an order until it rests, or the list until Ctrl-C',
    more: 'An order rests when it is declined, decided, canceled or closed and no portal action is running.\nEach change is one line of JSON, or on a terminal a line of text (for the list, the whole table). The command waits out\na restart of Temporal or of the worker.',
    args: { orderId: orderIdSchema.exactOptional() },
    options: {
      ...FILTERS,
      limit: LIMIT,
      timeout: option(
        '--timeout <seconds>',
        'stop after that long, with exit code 7 for an order that does not rest',
        seconds,
      ),
      every: option('--every <seconds>', 'how often to look; 1 unless given', seconds),
    },
    examples: [
      'watch 1001 --timeout 60',
      'watch --attention',
      'watch --phase review --json | jq -r .orderId',
    ],
    run: ({ orderId, timeout = Number.POSITIVE_INFINITY, every: everyMs = 1_000, limit, ...filters }) => {
      const pace = { until: Date.now() + timeout, everyMs };
      // --due-within counts from each look.
      const request = () => ({ ...requestOf(filters), ...(limit !== undefined && { limit }) });
      return withOrders((orders) =>
        orderId === undefined
          ? watchList(orders, request, pace, output)
          : watchOrder(orders, { orderId, integration: filters.integration }, pace, output),
      );
    },
  });
}

async function watchOrder(
  orders: OrderScreening,
  name: OrderName,
  pace: Pace,
  output: Output,
): Promise<ExitCode> {
  let before = '';
  const rested = await look(pace, output, async () => {
    const state = await orders.get(name);
    const now = inShort(state);
    if (JSON.stringify(now) !== before) {
      output.line({ at: new Date().toISOString(), ...now }, () => orderLine(state, output));
    }
    before = JSON.stringify(now);
    return RESTING.has(state.phase) && !state.actions.some(isUnderWay);
  });
  return rested ? EXIT.ok : EXIT.notYet;
}

async function watchList(
  orders: OrderScreening,
  request: () => ListRequest,
  pace: Pace,
  output: Output,
): Promise<ExitCode> {
  let before: Map<string, OrderSummary> | undefined;
  await look(pace, output, async () => {
    const page = await orders.list(request());
    const now = new Map(page.orders.map((order) => [`${order.integration}:${order.orderId}`, order]));
    const changes = [
      ...[...now].filter(([key, order]) => JSON.stringify(order) !== JSON.stringify(before?.get(key))),
      ...[...(before ?? [])]
        .filter(([key]) => !now.has(key))
        .map(([key, order]) => [key, { ...order, gone: true }] as const),
    ];
    if (output.json) {
      for (const [, order] of changes) output.line(order, () => '');
    } else if (before === undefined || changes.length > 0) {
      // On a terminal, replace the previous table.
      const clear = process.stdout.isTTY ? '\u001b[2J\u001b[H' : '';
      output.line(page, () => `${clear}${showList(page, output.colors)}`);
    }
    before = now;
    return false;
  });
  return EXIT.ok;
}

/**
 * Polls until the condition holds or the time is over. After the first success, it waits out outages.
 * @returns whether the condition held in time
 */
async function look(pace: Pace, output: Output, holds: () => Promise<boolean>): Promise<boolean> {
  let looked = false;
  let silent: unknown;
  for (;;) {
    try {
      if (await holds()) return true;
      looked = true;
      silent = undefined;
    } catch (error) {
      const passing = error instanceof OrderScreeningError && error.code === 'temporal-unavailable';
      if (!passing || !looked) throw error;
      if (silent === undefined) output.notice('Temporal or a worker does not answer; still watching');
      silent = error;
    }
    if (Date.now() + pace.everyMs > pace.until) {
      if (silent !== undefined) throw silent;
      return false;
    }
    await sleep(pace.everyMs);
  }
}

/** The fields of an order whose changes are shown. */
function inShort(order: OrderState) {
  const attempt = order.attempts.at(-1);
  return {
    orderId: order.orderId,
    integration: order.integration,
    phase: order.phase,
    decision: order.decision,
    action: order.action,
    attempt: attempt?.number,
    transactionId: attempt && transactionOf(order, attempt)?.id,
    cancelBy: attempt && cancelByOf(order, attempt),
    attention: order.attention.map(({ code }) => code),
    actions: order.actions.map(({ number, kind, status }) => ({ number, kind, status })),
  };
}

function orderLine(order: OrderState, { colors }: Output): string {
  const actions = order.actions.map(
    ({ number, kind, status }) => `${number}: ${kind} ${colored(status, colors)}`,
  );
  const attention = order.attention.map(({ words }) => colors.red(plain(words)));
  const parts = [
    shortTime(new Date().toISOString()),
    order.phase,
    `decision ${colored(order.decision, colors)}`,
    `action ${colored(order.action, colors)}`,
    ...actions,
    ...attention,
  ];
  return parts.join('  ');
}
