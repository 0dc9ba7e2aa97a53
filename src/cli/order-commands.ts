/** Commands about an order: screen, retry, gateway-result, show, list. */
import type { Command } from 'commander';
import { z } from 'zod';
import { invalidRequest, MOST_ATTEMPTS } from '../client/read-requests.ts';
import type { CheckoutAnswer } from '../orders/state.ts';
import { GATEWAY_RESULTS, INTEGRATION_WORKFLOWS, PHASES } from '../orders/words.ts';
import { type CommandTools, defineCommand, INTEGRATION } from './define-command.ts';
import { EXIT } from './exit-codes.ts';
import {
  attempt,
  decision,
  integration,
  oneOf,
  orderId,
  phase,
  readJsonObject,
  text,
  wholeNumber,
} from './input-schemas.ts';
import { showAnswer, showList, showOrder } from './output.ts';

const WORKFLOW = ['--workflow <name>', `one of ${INTEGRATION_WORKFLOWS.join(', ')}`] as const;
const FILE_HELP =
  'The file, or standard input, is the body of POST /v1/orders/{orderId}/screening:\n{"transaction": {…}, "integration"?, "workflow"?, "attempt"?}. An option goes before its field.';

const screenInput = z.strictObject({
  orderId,
  file: z.string().exactOptional(),
  integration,
  workflow: oneOf(INTEGRATION_WORKFLOWS).exactOptional(),
});
const retryInput = screenInput.extend({ attempt: wholeNumber(2, MOST_ATTEMPTS) });

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

// What people look at: show, list.

/** The filters of `list` and `watch`, the API's. */
export const FILTERS = [
  ['--integration <name>', 'only this integration'],
  ['--phase <phase>', `only orders in this phase: ${PHASES.join(', ')}`],
  ['--decision <decision>', `only orders with this decision: ${decision.options.join(', ')}`],
  ['--attention', 'only orders that need attention'],
  ['--no-attention', 'only orders that need none'],
  ['--limit <number>', 'how many, 1 to 100; 50 unless given'],
] as const;

export const filterInput = {
  integration,
  phase: phase.exactOptional(),
  decision: decision.exactOptional(),
  attention: z.boolean().exactOptional(),
  limit: wholeNumber(1, 100).exactOptional(),
};

export function readCommands(program: Command, { output, withOrders }: CommandTools): void {
  defineCommand(program, {
    name: 'show <orderId>',
    summary: 'Show the whole state of an order, open or closed',
    options: [INTEGRATION],
    examples: ['show 1001', 'show 1001 --json | jq -r .phase'],
    input: z.strictObject({ orderId, integration }),
    run: async (order) => {
      const state = await withOrders((orders) => orders.get(order));
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
      ['--cursor <cursor>', 'the page after the one that named it, with the same filters'],
    ],
    examples: [
      'list --attention',
      'list --phase review --integration shop',
      'list --json | jq -r ".orders[].orderId"',
    ],
    input: z.strictObject({ ...filterInput, cursor: z.string().exactOptional() }),
    run: async (request) => {
      const page = await withOrders((orders) => orders.list(request));
      output.answer(page, () => showList(page, output.colors));
      return EXIT.ok;
    },
  });
}
