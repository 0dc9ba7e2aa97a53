/** `transaction`: reads a transaction from the screening service. */
import type { Command } from 'commander';
import { z } from 'zod';
import { type CommandTools, defineCommand, INTEGRATION, integration, orderId } from './define-command.ts';
import { EXIT } from './exit-codes.ts';
import { colored, facts, plain } from './output.ts';

export function transactionCommand(program: Command, { output, withOrders }: CommandTools): void {
  defineCommand(program, {
    name: 'transaction <idOrInvoice>',
    summary: 'Read a transaction from the screening service now, and the order that owns it',
    more: 'This machine sends the request, with the API key of the environment. If several transactions have the invoice number, the first one is read.',
    options: [INTEGRATION],
    examples: [
      'transaction c205c2bd-8752-46af-9bc5-bd3635363ea4',
      'transaction 1001 --json | jq -r .decision',
    ],
    // An invoice number has the limits of an order id.
    input: z.strictObject({ idOrInvoice: orderId, integration }),
    run: async (asked) => {
      const status = await withOrders((orders) => orders.getTransaction(asked));
      const { id, decision, message, order } = status;
      output.answer(status, () =>
        facts([
          ['transaction', id],
          ['decision', colored(decision, output.colors)],
          ['message', message && plain(message)],
          ['order', order && `${plain(order.orderId)} (${order.integration})`],
        ]),
      );
      return EXIT.ok;
    },
  });
}
