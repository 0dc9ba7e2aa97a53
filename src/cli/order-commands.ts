/** Commands about orders: screen, retry, gateway-result, show, list, days, count. */
import type { Command } from 'commander';
import { z } from 'zod';
import { countDays } from '../client/list-orders.ts';
import { listRequestOf, WRITTEN_FILTERS } from '../client/list-request.ts';
import { csvOf } from '../client/read-orders.ts';
import { HIGHEST_ATTEMPT, invalidRequest } from '../client/read-requests.ts';
import type { CheckoutAnswer } from '../contract/answers.ts';
import { GATEWAY_RESULTS, INTEGRATION_WORKFLOWS, instant, millis, PHASES } from '../contract/words.ts';
import type { ListRequest } from '../starter.ts';
import {
  attempt,
  type CommandTools,
  decision,
  defineCommand,
  INTEGRATION,
  integration,
  oneOf,
  orderId,
  phase,
  readJsonObject,
  text,
  wholeNumber,
} from './define-command.ts';
import { EXIT } from './exit-codes.ts';
import { facts, showAnswer, showDays, showList, showOrder } from './output.ts';

const WORKFLOW = ['--workflow <name>', `one of ${INTEGRATION_WORKFLOWS.join(', ')}`] as const;
const FILE_HELP =
  'The file, or standard input, is the body of POST /v1/orders/{orderId}/screening:\n{"transaction": {…}, "integration"?, "workflow"?, "attempt"?}. An option goes before its field.';

const screenInput = z.strictObject({
  orderId,
  file: z.string().exactOptional(),
  integration,
  workflow: oneOf(INTEGRATION_WORKFLOWS).exactOptional(),
});
const retryInput = screenInput.extend({ attempt: wholeNumber(2, HIGHEST_ATTEMPT) });

export function orderCommands(program: Command, { output, withOrders }: CommandTools): void {
  const screen = async ({ file, ...named }: z.output<typeof screenInput> & { attempt?: number }) => {
    const body = await readJsonObject(file);
    if (Object.hasOwn(body, 'orderId')) {
      throw invalidRequest([{ path: 'orderId', message: 'stands in the command; remove it from the input' }]);
    }
    const answer = await withOrders((orders) => orders.screen({ ...body, ...named }));
    output.answer(withoutFingerprint(answer), () => showAnswer(answer, output.colors));
    return EXIT.ok;
  };

  defineCommand(program, {
    name: 'screen <orderId> [file]',
    summary: 'Screen an order: its decision, and what to do now',
    more: `${FILE_HELP}\nThe same again gets the same answer. Exit code 0 is a decision or \`pending\`; read \`action\`.`,
    options: [INTEGRATION, WORKFLOW],
    examples: ['screen 1001 examples/orders/review.json', 'screen 1001 --json < order.json | jq -r .action'],
    input: screenInput,
    run: screen,
  });

  defineCommand(program, {
    name: 'retry <orderId> [file]',
    summary: 'Screen the next attempt of a declined order',
    more: FILE_HELP,
    options: [['--attempt <number>', 'which attempt it is, from 2 (required)'], INTEGRATION, WORKFLOW],
    examples: ['retry 1001 examples/orders/pass.json --attempt 2'],
    input: retryInput,
    run: screen,
  });

  defineCommand(program, {
    name: 'gateway-result <orderId> <result>',
    summary: "Report the payment gateway's result of a pre-gateway order",
    more: `The result is ${GATEWAY_RESULTS.join(', ')}: approved, declined, or no clear answer.`,
    options: [
      ['--attempt <number>', 'which attempt it is for; needed when there are several'],
      ['--authcode <code>', "the gateway's authorization code"],
      ['--transaction-id <id>', "the gateway's own transaction id"],
      INTEGRATION,
    ],
    examples: ['gateway-result 1001 pass --authcode 123456', 'gateway-result 1001 fail --attempt 2'],
    input: z.strictObject({
      orderId,
      result: oneOf(GATEWAY_RESULTS),
      attempt: attempt.exactOptional(),
      authcode: text(128).exactOptional(),
      transactionId: text(128).exactOptional(),
      integration,
    }),
    run: async ({ orderId, integration, ...result }) => {
      const answer = await withOrders((orders) =>
        orders.recordGatewayResult({ orderId, integration }, result),
      );
      output.answer(answer, () => showAnswer(answer, output.colors));
      return EXIT.ok;
    },
  });
}

/** It means something to the client library only. */
function withoutFingerprint({ fingerprint: _ours, ...answer }: CheckoutAnswer) {
  return answer;
}

// What people look at: show, list, days, count.

/** The filters of `list`, `count` and `watch`, those of the queue page. */
export const FILTERS = [
  ['--integration <name>', 'only this integration'],
  ['--phase <phase>', `only orders in this phase: ${PHASES.join(', ')}`],
  ['--decision <decision>', `only orders with this decision: ${decision.options.join(', ')}`],
  ['--attention', 'only orders that need attention'],
  ['--no-attention', 'only orders that need none'],
  [
    '--find <words>',
    'an order id of that integration, else of default, an invoice number or a transaction, whole',
  ],
  ['--open', 'only open orders'],
  ['--no-open', 'only closed orders'],
  [
    '--due-within <hours>',
    'only open orders, or with --no-open closed ones, whose cancel window ends within so many hours',
  ],
  ['--due-before <moment>', 'the same with a moment, such as 2026-12-24T18:00:00Z'],
  ['--amount-from <amount>', 'only orders of this amount or more, in their own currency'],
  ['--amount-to <amount>', 'only orders below this amount'],
  ['--started-from <moment>', 'only orders that came at this moment or later'],
  ['--started-to <moment>', 'only orders that came before'],
] as const;
export const LIMIT = ['--limit <number>', 'how many, 1 to 100; 50 unless given'] as const;

export const filterInput = {
  integration,
  phase: phase.exactOptional(),
  decision: decision.exactOptional(),
  attention: z.boolean().exactOptional(),
  open: z.boolean().exactOptional(),
  dueWithin: wholeNumber(1, 999).exactOptional(),
  ...WRITTEN_FILTERS,
};
const MOST_OF_A_PAGE = 100;
export const limit = wholeNumber(1, MOST_OF_A_PAGE).exactOptional();

const filtersSchema = z.strictObject(filterInput);

/** @returns what Temporal is asked for now by the filters that were given */
export function requestOf({ dueWithin, ...filters }: z.output<typeof filtersSchema>): ListRequest {
  if (dueWithin === undefined) return listRequestOf(filters);
  const before = filters.dueBefore === undefined ? Number.POSITIVE_INFINITY : millis(filters.dueBefore);
  const dueBefore = instant(Math.min(before, Date.now() + dueWithin * HOUR_MS));
  return listRequestOf({ ...filters, dueBefore });
}

const HOUR_MS = 3_600_000;

export function readCommands(program: Command, { output, withOrders }: CommandTools): void {
  defineCommand(program, {
    name: 'show <orderId>',
    summary: 'Show an order, open or closed',
    options: [INTEGRATION, ['--full', 'all readings, insights, journal entries and events']],
    examples: ['show 1001', 'show 1001 --json | jq -r .phase', 'show 1001 --full --json'],
    input: z.strictObject({ orderId, integration, full: z.literal(true).exactOptional() }),
    run: async ({ full, ...order }) => {
      const state = await withOrders((orders) => orders.get(order, { view: full ? 'full' : 'record' }));
      output.answer(state, () => showOrder(state, output.colors));
      return EXIT.ok;
    },
  });

  defineCommand(program, {
    name: 'list',
    summary: 'List orders, newest first; up to 2 s behind',
    more: 'Without personal data: it shows what Temporal can search for.',
    options: [
      ...FILTERS,
      LIMIT,
      ['--cursor <cursor>', 'the page after the one that named it, with the same filters'],
      [
        '--csv',
        'all pages as CSV for a spreadsheet, up to 2,000 orders; a last line says when there were more',
      ],
    ],
    examples: [
      'list --attention',
      'list --phase review --integration shop',
      'list --find 1001',
      'list --phase review --due-within 12 --amount-from 500',
      'list --json | jq -r ".orders[].orderId"',
      'list --phase review --csv > reviews.csv',
    ],
    input: z
      .strictObject({
        ...filterInput,
        limit,
        cursor: z.string().exactOptional(),
        csv: z.literal(true).exactOptional(),
      })
      .refine(({ csv, limit, cursor }) => !csv || (limit ?? cursor) === undefined, {
        path: ['csv'],
        error: 'has all pages: it goes without --limit and --cursor',
      }),
    run: async ({ cursor, limit, csv, ...filters }) => {
      const asked = requestOf(filters);
      if (csv) {
        const whole = { ...asked, limit: MOST_OF_A_PAGE };
        output.file(await withOrders((orders) => csvOf((cursor) => orders.list({ ...whole, cursor }))));
        return EXIT.ok;
      }
      const request = {
        ...asked,
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
      };
      const page = await withOrders((orders) => orders.list(request));
      output.answer(page, () => showList(page, output.colors));
      return EXIT.ok;
    },
  });

  defineCommand(program, {
    name: 'days',
    summary: 'Count the orders of each of the last seven days by their decision, and the open reviews by age',
    more: 'A day is 24 hours, back from now; the decision is that of now. Up to 2 s behind.',
    options: [['--integration <name>', 'only this integration']],
    examples: ['days', 'days --json | jq ".days[0].counts"'],
    input: z.strictObject({ integration }),
    run: async (of) => {
      const counted = await withOrders((orders) => countDays(orders, of, Date.now()));
      output.answer(counted, () => showDays(counted));
      return EXIT.ok;
    },
  });

  defineCommand(program, {
    name: 'count',
    summary: 'Count orders, open and closed; up to 2 s behind',
    options: FILTERS,
    examples: ['count', 'count --phase review --due-within 12'],
    input: filtersSchema,
    run: async (filters) => {
      const request = requestOf(filters);
      const { all, open } = await withOrders(async (orders) => {
        const [all, open] = await Promise.all([
          orders.count(request),
          request.open === false ? 0 : orders.count({ ...request, open: true }),
        ]);
        return { all, open };
      });
      const counted = { open, closed: Math.max(0, all - open) };
      output.answer(counted, () => facts(Object.entries(counted)));
      return EXIT.ok;
    },
  });
}
