/** Commands that act on an order: the portal actions, override, redeliver, recheck, acknowledge, note, assign, snooze. */
import type { Command } from 'commander';
import { handlingMethod, portalMethod } from '../client/messages/portal-action.ts';
import { idempotencyKeySchema, optionsSchema } from '../client/messages/portal-options.ts';
import { orderIdSchema } from '../client/read-requests.ts';
import {
  acknowledgeSchema,
  HANDLING,
  HANDLINGS,
  handlingDefinition,
  overrideSchema,
} from '../contract/order/requests.ts';
import { portalDefinition } from '../contract/portal/portal-actions.ts';
import { PORTAL_ACTIONS, type PortalActionKind } from '../contract/portal/portal-kinds.ts';
import type { Action } from '../contract/words.ts';
import type { OrderName, OrderScreening, PortalOptions } from '../starter.ts';
import {
  ACTOR,
  actingAs,
  type CommandTools,
  defineCommand,
  flagOf,
  INTEGRATION,
  option,
  required,
} from './define-command.ts';
import { EXIT, type ExitCode, failureOf } from './exit-codes.ts';
import { numberOnRecord, orderIds } from './input.ts';
import { answerLine } from './output.ts';

const SEVERAL =
  'Several orders get one line each. A refused order does not stop the others; the exit code is that of the first that failed.';
const NOT_YET = 'Exit code 7: still running after 10 s; `show` has the outcome later.';

const WHO = { actor: ACTOR, integration: INTEGRATION };
const KEYED = {
  idempotencyKey: option(idempotencyKeySchema, 'key', 'the same key returns the same answer'),
  ifAction: option(
    optionsSchema.shape.ifAction.unwrap(),
    'action',
    'the action that you saw; if an open order has a different one now: `order-changed`',
  ),
  ...WHO,
};
/** What every command has besides the fields of its request, none of which has one of these names. */
interface Named<Id> {
  orderId: Id;
  integration?: string;
  idempotencyKey?: string;
  ifAction?: Action;
  actor?: string;
}
type Ask<Input extends Named<unknown>> = (
  orders: OrderScreening,
  order: OrderName,
  request: Omit<Input, keyof Named<unknown>>,
  how: PortalOptions,
) => Promise<object>;

export function portalCommands(program: Command, { output, withOrders }: CommandTools): void {
  async function act<Input extends Named<string>>(input: Input, ask: Ask<Input>): Promise<ExitCode> {
    const { orderId, integration, idempotencyKey, ifAction, actor, ...request } = input;
    const how = { idempotencyKey, ifAction, ...actingAs(actor) };
    const answer = await withOrders((orders) => ask(orders, { orderId, integration }, request, how));
    output.answer(answer);
    return 'status' in answer && answer.status === 'requested' ? EXIT.notYet : EXIT.ok;
  }

  /** Answers one order as any command does, several with one line each. A refused order doesn't stop the others. */
  async function actOnEach<Input extends Named<string[]>>(input: Input, ask: Ask<Input>): Promise<ExitCode> {
    const { orderId: ids, integration, idempotencyKey, ifAction, actor, ...request } = input;
    const how = { idempotencyKey, ifAction, ...actingAs(actor) };
    return withOrders(async (orders) => {
      const codes: ExitCode[] = [];
      for (const orderId of ids) {
        try {
          const answer = await ask(orders, { orderId, integration }, request, how);
          if (ids.length === 1) output.answer(answer);
          else output.line({ ...answer, orderId }, () => answerLine(orderId, answer));
        } catch (error) {
          if (ids.length === 1) throw error;
          const { problem, code, word } = failureOf(error);
          codes.push(code);
          output.line({ orderId, problem }, () => answerLine(orderId, { [word]: problem.detail }));
        }
      }
      return codes[0] ?? EXIT.ok;
    });
  }

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
      options: { ...fields, ...KEYED },
      examples: [exampleOf(kind)],
      run: (input) =>
        act(input as Named<string>, (orders, order, request, how) =>
          portalMethod(orders, kind)(order, request, how),
        ),
    });
  }

  defineCommand(program, {
    name: 'withdraw <orderId> <number>',
    summary: 'Withdraw a queued or running portal action',
    more: `\`show\` lists the numbers. Status done: it was done before it could be withdrawn.\n${NOT_YET}`,
    args: { orderId: orderIdSchema, number: numberOnRecord },
    options: KEYED,
    examples: ['withdraw 1001 2'],
    run: (input) => act(input, (orders, order, request, how) => orders.withdraw(order, request, how)),
  });

  defineCommand(program, {
    name: 'override <orderId...>',
    summary: 'Override the screening service: proceed or cancel, with a reason',
    more: `It stays until the next override or attempt, whatever the screening service decides later. \`cancel\` also cancels at the screening service if possible; otherwise \`notCanceled\` has the reason.\n${SEVERAL}`,
    args: { orderId: orderIds },
    options: {
      action: required(overrideSchema.shape.action, 'action', 'proceed or cancel'),
      reason: required(
        overrideSchema.shape.reason,
        'words',
        "the reason; it is recorded in the order's history",
      ),
      ...KEYED,
    },
    examples: ['override 1001 --action proceed --reason "the customer showed the card"'],
    run: (input) => actOnEach(input, (orders, order, request, how) => orders.override(order, request, how)),
  });

  defineCommand(program, {
    name: 'redeliver <orderId> <sequence>',
    summary: 'Send an event of the order again, with the same id and content',
    more: `\`show --full\` lists the numbers of the last 50 events.\n${NOT_YET}`,
    args: { orderId: orderIdSchema, sequence: numberOnRecord },
    options: WHO,
    examples: ['redeliver 1001 2'],
    run: (input) => act(input, (orders, order, request, how) => orders.redeliver(order, request, how)),
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
      ...acknowledgeSchema.shape,
      reason: required(
        acknowledgeSchema.shape.reason,
        'words',
        "what was done about it; it is recorded in the order's history",
      ),
      ...KEYED,
    },
    examples: ['acknowledge 1001 --reason "refunded by hand"'],
    run: (input) =>
      actOnEach(input, (orders, order, request, how) => orders.acknowledge(order, request, how)),
  });

  for (const kind of HANDLINGS) {
    const { summary, schema, example } = handlingDefinition(kind);
    const assignee = option(
      HANDLING.assign.schema.shape.assignee.unwrap(),
      'name',
      'the person; without it, nobody',
    );
    const given = Object.entries(example).map(([name, value]) => `${flagOf(name)} "${value}"`);
    defineCommand(program, {
      name: `${kind} <orderId...>`,
      summary,
      more: SEVERAL,
      args: { orderId: orderIds },
      options: { ...(kind === 'assign' ? { assignee } : schema.shape), ...KEYED },
      examples: [`${kind} 1001 ${given.join(' ')}`],
      run: (input) =>
        actOnEach(input, (orders, order, fields, how) => {
          const request = kind === 'assign' ? { assignee: null, ...fields } : fields;
          return handlingMethod(orders, kind)(order, request, how);
        }),
    });
  }
}

function exampleOf(kind: PortalActionKind): string {
  const { example, argument } = portalDefinition(kind);
  const given = Object.entries(example).map(([name, value]) => {
    const written = /[^\w.@-]/.test(value) ? `"${value}"` : value;
    return name === argument?.field ? written : `${flagOf(name)} ${written}`;
  });
  return [kind, '1001', ...given].join(' ');
}
