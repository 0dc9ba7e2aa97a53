/** Commands that act on an order: the portal actions, override, redeliver, recheck, acknowledge, note, assign, snooze. */
import type { Command } from 'commander';
import { HANDLINGS, handlingDefinition } from '../client/messages/handling.ts';
import { handlingMethod, portalMethod } from '../client/messages/portal-action.ts';
import { actorSchema, idempotencyKeySchema } from '../client/messages/portal-options.ts';
import { orderIdSchema } from '../client/read-requests.ts';
import { reasonSchema } from '../contract/fields.ts';
import { portalDefinition } from '../contract/portal/portal-actions.ts';
import { PORTAL_ACTIONS, type PortalActionKind } from '../contract/portal/portal-kinds.ts';
import { OVERRIDE_ACTIONS } from '../contract/words.ts';
import type { OrderName, OrderScreening, PortalOptions } from '../starter.ts';
import {
  ACTOR,
  actingAs,
  type CommandTools,
  defineCommand,
  flagOf,
  INTEGRATION,
  option,
  optionsOf,
  required,
} from './define-command.ts';
import { EXIT, type ExitCode, exitCodeOf, failedWord, problemOf } from './exit-codes.ts';
import { numberOnRecord, oneOf, orderIds } from './input.ts';
import { answerLine } from './output.ts';

const SEVERAL =
  'Several orders get one line each. A refused order does not stop the others; the exit code is that of the first that failed.';
const NOT_YET = 'Exit code 7: still running after 10 s; `show` has the outcome later.';

const WHO = { actor: ACTOR, integration: INTEGRATION };
const KEYED = {
  idempotencyKey: option(
    '--idempotency-key <key>',
    'the same key returns the same answer',
    idempotencyKeySchema,
  ),
  ...WHO,
};
interface Named extends OrderName {
  idempotencyKey?: string | undefined;
  actor?: string | undefined;
}

export function portalCommands(program: Command, { output, withOrders }: CommandTools): void {
  type Send = (orders: OrderScreening, order: OrderName, how: PortalOptions) => Promise<{ status: string }>;
  const act = async ({ orderId, integration, ...how }: Named, send: Send): Promise<ExitCode> => {
    const answer = await withOrders((orders) => send(orders, { orderId, integration }, howOf(how)));
    output.answer(answer);
    return answer.status === 'requested' ? EXIT.notYet : EXIT.ok;
  };

  /** Answers one order as any command does, several with one line each. A refused order doesn't stop the others. */
  const actOnEach = async <Answer extends object>(
    { orderId: ids, integration }: { orderId: readonly string[]; integration?: string },
    ask: (orders: OrderScreening, order: OrderName) => Promise<Answer>,
  ) =>
    withOrders(async (orders): Promise<ExitCode> => {
      const [first = '', second] = ids;
      if (second === undefined) {
        const answer = await ask(orders, { orderId: first, integration });
        output.answer(answer);
        return EXIT.ok;
      }
      const codes: ExitCode[] = [];
      for (const orderId of ids) {
        try {
          const answer = await ask(orders, { orderId, integration });
          output.line({ ...answer, orderId }, () => answerLine(orderId, answer));
        } catch (error) {
          const problem = problemOf(error);
          const code = exitCodeOf(error);
          codes.push(code);
          output.line({ orderId, problem }, () =>
            answerLine(orderId, { [failedWord(code)]: problem.detail }),
          );
        }
      }
      return codes[0] ?? EXIT.ok;
    });

  for (const kind of PORTAL_ACTIONS) {
    const { summary, more, schema, argument } = portalDefinition(kind);
    const { [argument?.field ?? '']: positional, ...fields } = schema.shape;
    defineCommand(program, {
      name: `${kind} <orderId>${argument === undefined ? '' : ` <${argument.name}>`}`,
      summary,
      more: more === undefined ? NOT_YET : `${more}\n${NOT_YET}`,
      args: {
        orderId: orderIdSchema,
        ...(argument !== undefined && positional !== undefined && { [argument.field]: positional }),
      },
      options: { ...optionsOf(fields), ...KEYED },
      examples: [exampleOf(kind)],
      run: (input) => {
        // No action has a field with one of these names.
        const { orderId, integration, idempotencyKey, actor, ...request } = input as Named;
        return act({ orderId, integration, idempotencyKey, actor }, (orders, order, how) =>
          portalMethod(orders, kind)(order, request, how),
        );
      },
    });
  }

  defineCommand(program, {
    name: 'withdraw <orderId> <number>',
    summary: 'Withdraw a queued or running portal action',
    more: `\`show\` lists the numbers. Status done: it was done before it could be withdrawn.\n${NOT_YET}`,
    args: { orderId: orderIdSchema, number: numberOnRecord },
    options: KEYED,
    examples: ['withdraw 1001 2'],
    run: ({ number, ...order }) =>
      act(order, (orders, order, how) => orders.withdraw(order, { number }, how)),
  });

  defineCommand(program, {
    name: 'override <orderId...>',
    summary: 'Override the screening service: proceed or cancel, with a reason',
    more: `It stays until the next override or attempt, whatever the screening service decides later. \`cancel\` also cancels at the screening service if possible; otherwise \`notCanceled\` has the reason.\n${SEVERAL}`,
    args: { orderId: orderIds },
    options: {
      action: required('--action <action>', 'proceed or cancel', oneOf(OVERRIDE_ACTIONS)),
      reason: required('--reason <words>', "the reason; it is recorded in the order's history", reasonSchema),
      ...KEYED,
    },
    examples: ['override 1001 --action proceed --reason "the customer showed the card"'],
    run: ({ action, reason, ...input }) =>
      actOnEach(input, (orders, order) => orders.override(order, { action, reason }, howOf(input))),
  });

  defineCommand(program, {
    name: 'redeliver <orderId> <sequence>',
    summary: 'Send an event of the order again, with the same id and content',
    more: `\`show\` lists the numbers of the last 50 events.\n${NOT_YET}`,
    args: { orderId: orderIdSchema, sequence: numberOnRecord },
    options: WHO,
    examples: ['redeliver 1001 2'],
    run: ({ sequence, ...order }) =>
      act(order, (orders, order, how) => orders.redeliver(order, { sequence }, how)),
  });

  defineCommand(program, {
    name: 'recheck <orderId...>',
    summary: 'Make the order read its decision from the screening service now',
    more: `The order reads it in the background, within seconds: see \`show\`, "last read". An order with the decision \`error\` is screened again.\n${SEVERAL}`,
    args: { orderId: orderIds },
    options: { integration: INTEGRATION },
    examples: ['recheck 1001', 'recheck 1001 1002 1003'],
    run: (input) => actOnEach(input, (orders, order) => orders.recheck(order)),
  });

  defineCommand(program, {
    name: 'acknowledge <orderId...>',
    summary: 'Resolve what needs attention, with a reason',
    more: SEVERAL,
    args: { orderId: orderIds },
    options: {
      reason: required(
        '--reason <words>',
        "what was done about it; it is recorded in the order's history",
        reasonSchema,
      ),
      ...KEYED,
    },
    examples: ['acknowledge 1001 --reason "refunded by hand"'],
    run: ({ reason, ...input }) =>
      actOnEach(input, (orders, order) => orders.acknowledge(order, { reason }, howOf(input))),
  });

  for (const kind of HANDLINGS) {
    const { summary, schema, example } = handlingDefinition(kind);
    const assignee = option('--assignee <name>', 'the person; without it, nobody', actorSchema);
    const given = Object.entries(example).map(([name, value]) => `${flagOf(name)} "${value}"`);
    defineCommand(program, {
      name: `${kind} <orderId...>`,
      summary,
      more: SEVERAL,
      args: { orderId: orderIds },
      options: { ...(kind === 'assign' ? { assignee } : optionsOf(schema.shape)), ...KEYED },
      examples: [`${kind} 1001 ${given.join(' ')}`],
      run: (input) => {
        const { orderId: _ids, integration: _name, idempotencyKey: _key, actor: _who, ...fields } = input;
        const request = kind === 'assign' ? { assignee: null, ...fields } : fields;
        return actOnEach(input, (orders, order) =>
          handlingMethod(orders, kind)(order, request, howOf(input)),
        );
      },
    });
  }
}

function howOf({ idempotencyKey, actor }: Omit<Named, 'orderId'>): PortalOptions {
  return { idempotencyKey, ...actingAs(actor) };
}

function exampleOf(kind: PortalActionKind): string {
  const { example, argument } = portalDefinition(kind);
  const given = Object.entries(example).map(([name, value]) => {
    const written = /[^\w.@-]/.test(value) ? `"${value}"` : value;
    return name === argument?.field ? written : `${flagOf(name)} ${written}`;
  });
  return [kind, '1001', ...given].join(' ');
}
