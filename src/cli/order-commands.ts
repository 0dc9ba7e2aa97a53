/** Commands about orders: screen, retry, gateway-result, show, list, count, transaction. */
import type { Command } from 'commander';
import { z } from 'zod';
import { listRequestOf, WRITTEN_FILTERS } from '../client/lists/list-request.ts';
import { integrationNameSchema, invalidRequest, orderIdSchema } from '../client/read-requests.ts';
import { HIGHEST_ATTEMPT, workflowSchema } from '../contract/fields.ts';
import { gatewayResultSchema } from '../contract/order/requests.ts';
import {
  GATEWAY_RESULTS,
  INTEGRATION_WORKFLOWS,
  instant,
  millis,
  ORDER_DECISIONS,
  PHASES,
} from '../contract/words.ts';
import { defined } from '../order/defined.ts';
import type { ListRequest } from '../starter.ts';
import { type CommandTools, defineCommand, flag, INTEGRATION, option, required } from './define-command.ts';
import { readJsonObject, wholeNumber } from './input.ts';
import { showList, showOrder } from './output.ts';

const WORKFLOW = option(workflowSchema, 'name', `one of ${INTEGRATION_WORKFLOWS.join(', ')}`);
const FILE_HELP =
  'The file, or standard input, is the body of POST /v1/orders/{orderId}/screening:\n{"transaction": {…}, "integration"?, "workflow"?, "attempt"?}. An option overrides its field.';
const attempt = (from: number) => wholeNumber(from, HIGHEST_ATTEMPT);
const { result, authcode, transactionId } = gatewayResultSchema.shape;
/** An empty option is probably an unset variable of a script. */
const EMPTY = 'must not be empty; omit it if there is none';
const screenArgs = { orderId: orderIdSchema, file: z.string().exactOptional() };

export function orderCommands(program: Command, { output, withOrders }: CommandTools): void {
  type Named = { orderId: string; file?: string; attempt?: number };
  const screen = async ({ file, ...named }: Named): Promise<undefined> => {
    const body = await readJsonObject(file);
    if (Object.hasOwn(body, 'orderId')) {
      throw invalidRequest([
        { path: 'orderId', message: 'is an argument of the command; remove it from the input' },
      ]);
    }
    output.answer(await withOrders((orders) => orders.screen({ ...body, ...named })));
  };

  defineCommand(program, {
    name: 'screen <orderId> [file]',
    summary: 'Screen an order: returns its decision, and what to do now',
    more: `${FILE_HELP}\nThe same request returns the same answer. Exit code 0 is a decision or \`pending\`; read \`action\`.`,
    args: screenArgs,
    options: { integration: INTEGRATION, workflow: WORKFLOW },
    examples: ['screen 1701 examples/orders/review.json', 'screen 1001 --json < order.json | jq -r .action'],
    run: screen,
  });

  defineCommand(program, {
    name: 'retry <orderId> [file]',
    summary: 'Screen the next attempt of a declined order',
    more: FILE_HELP,
    args: screenArgs,
    options: {
      attempt: required(attempt(2), 'number', 'which attempt it is, from 2'),
      integration: INTEGRATION,
      workflow: WORKFLOW,
    },
    examples: ['retry 1001 examples/orders/pass.json --attempt 2'],
    run: screen,
  });

  defineCommand(program, {
    name: 'gateway-result <orderId> <result>',
    summary: "Report the payment gateway's result of a pre-gateway order",
    more: `The result is ${GATEWAY_RESULTS.join(', ')}: approved, declined, or no clear answer.`,
    args: { orderId: orderIdSchema, result },
    options: {
      attempt: option(attempt(1), 'number', 'which attempt it is for; needed when there are several'),
      authcode: option(authcode.unwrap().min(1, EMPTY), 'code', "the gateway's authorization code"),
      transactionId: option(transactionId.unwrap().min(1, EMPTY), 'id', "the gateway's own transaction id"),
      integration: INTEGRATION,
    },
    examples: ['gateway-result 1001 pass --authcode 123456', 'gateway-result 1001 fail --attempt 2'],
    run: async ({ orderId, integration, ...request }) => {
      const order = { orderId, integration };
      output.answer(await withOrders((orders) => orders.recordGatewayResult(order, request)));
    },
  });
}

// Commands that only read: show, list, count, transaction.

/** The filters of `list` and `count`, the same as the queue page's. */
const FILTERS = {
  integration: option(integrationNameSchema, 'name', 'only this integration'),
  phase: option(z.enum(PHASES), 'phase', `only orders in this phase: ${PHASES.join(', ')}`),
  decision: option(
    z.enum(ORDER_DECISIONS),
    'decision',
    `only orders with this decision: ${ORDER_DECISIONS.join(', ')}`,
  ),
  attention: flag('only orders that need attention', 'only orders that need none'),
  open: flag('only open orders', 'only closed orders'),
  dueWithin: option(
    wholeNumber(1, 999),
    'hours',
    'only open orders, or with --no-open closed ones, whose cancel window ends within so many hours',
  ),
  ...WRITTEN_FILTERS,
};

type Filters = z.output<z.ZodObject<typeof FILTERS>>;

const HOUR_MS = 3_600_000;

/** Returns the list request for these filters; `dueWithin` counts from now. */
function requestOf({ dueWithin, ...filters }: Filters): ListRequest {
  if (dueWithin === undefined) return listRequestOf(filters);
  const before = filters.dueBefore === undefined ? Number.POSITIVE_INFINITY : millis(filters.dueBefore);
  const dueBefore = instant(Math.min(before, Date.now() + dueWithin * HOUR_MS));
  return listRequestOf({ ...filters, dueBefore });
}

export function readCommands(program: Command, { output, withOrders }: CommandTools): void {
  defineCommand(program, {
    name: 'show <orderId>',
    summary: 'Show an order, open or closed',
    args: { orderId: orderIdSchema },
    options: {
      integration: INTEGRATION,
      full: flag('all readings, insights, journal entries and events'),
    },
    examples: ['show 1001', 'show 1001 --json | jq -r .phase', 'show 1001 --full --json'],
    run: async ({ full, ...order }) => {
      const state = await withOrders((orders) => orders.get(order, { view: full ? 'full' : 'record' }));
      output.answer(state, () => showOrder(state));
    },
  });

  defineCommand(program, {
    name: 'list',
    summary: 'List orders, newest first; up to 2 s behind',
    more: 'Shows no personal data. Lost: the workflow ended before the order did; see `repair`.',
    options: {
      ...FILTERS,
      limit: option(wholeNumber(1, 100), 'number', 'how many, 1 to 100; 50 unless given'),
      cursor: option(z.string(), 'cursor', 'the cursor of the previous page, with the same filters'),
    },
    examples: [
      'list --attention',
      'list --phase review --integration shop',
      'list --find 1001',
      'list --phase review --due-within 12 --amount-from 500',
      'list --json | jq -r ".orders[].orderId"',
    ],
    run: async ({ cursor, limit, ...filters }) => {
      const request = { ...requestOf(filters), ...defined({ limit, cursor }) };
      const shown = await withOrders((orders) => orders.list(request));
      output.answer(shown, () => showList(shown));
    },
  });

  defineCommand(program, {
    name: 'count',
    summary: 'Count orders, open and closed; up to 2 s behind',
    options: FILTERS,
    examples: ['count', 'count --phase review --due-within 12'],
    run: async (filters) => {
      const request = requestOf(filters);
      const [all, open] = await withOrders((orders) =>
        Promise.all([
          orders.count(request),
          request.open === false ? 0 : orders.count({ ...request, open: true }),
        ]),
      );
      output.answer({ open, closed: Math.max(0, all - open) });
    },
  });

  defineCommand(program, {
    name: 'transaction <idOrInvoice>',
    summary: 'Read a transaction from the screening service now, and the order that owns it',
    more: 'This machine sends the request, with the API key of the environment. If several transactions have the invoice number, the first one is read.',
    // Invoice numbers have the limits of order ids.
    args: { idOrInvoice: orderIdSchema },
    options: { integration: INTEGRATION },
    examples: [
      'transaction c205c2bd-8752-46af-9bc5-bd3635363ea4',
      'transaction 1001 --json | jq -r .decision',
    ],
    run: async (asked) => {
      output.answer(await withOrders((orders) => orders.getTransaction(asked)));
    },
  });
}
