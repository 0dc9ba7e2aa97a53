/** What people look at: show, list. */
import type { Command } from 'commander';
import { z } from 'zod';
import { PHASES } from '../orders/words.ts';
import { type CommandTools, defineCommand, INTEGRATION } from './define-command.ts';
import { EXIT } from './exit-codes.ts';
import { decision, integration, orderId, phase, wholeNumber } from './input-schemas.ts';
import { showList, showOrder } from './tables.ts';

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
