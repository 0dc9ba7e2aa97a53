/** What people do to an order: the portal actions, override, redeliver, recheck, acknowledge. */
import type { Command } from 'commander';
import { z } from 'zod';
import type { PortalAnswer } from '../contract/answers.ts';
import { PORTAL_ACTION_TABLE } from '../contract/portal-actions.ts';
import type { OrderName, OrderScreening, PortalOptions } from '../starter.ts';
import {
  ACTOR,
  actingAs,
  actionNumber,
  actor,
  type CommandTools,
  defineCommand,
  eventSequence,
  INTEGRATION,
  idempotencyKey,
  integration,
  orderId,
  orderIds,
  overrideAction,
  reason,
  text,
  transactionId,
} from './define-command.ts';
import { EXIT, type ExitCode, exitCodeOf, problemOf } from './exit-codes.ts';
import { facts, factsOf, type Row, showPortalAnswer } from './output.ts';

const TRANSACTION = [
  '--transaction-id <id>',
  "one of the order's transactions; the newest unless given",
] as const;
const KEY = ['--idempotency-key <key>', 'the same key again gets the same answer'] as const;
const REASON = ['--reason <words>', "why; it is kept in the order's history"] as const;
const SEVERAL =
  'Several orders are answered by a line each, and none keeps the next one from being asked; the exit code is that of the first that failed.';
const NOT_YET = 'Exit code 7: asked, and not done within 10 s; it goes on, see `show`.';

const { shape } = PORTAL_ACTION_TABLE.chargeback.schema;
const named = { orderId, integration, idempotencyKey, actor };
const several = { ...named, orderId: orderIds };
const withReason = z.strictObject({ ...named, reason: reason.exactOptional(), transactionId });

export function portalCommands(program: Command, { output, withOrders }: CommandTools): void {
  type Send = (orders: OrderScreening, order: OrderName, how: PortalOptions) => Promise<PortalAnswer>;
  type Named = OrderName & { idempotencyKey?: string | undefined; actor?: string | undefined };
  const act = async (named: Named, send: Send): Promise<ExitCode> => {
    const { orderId, integration, idempotencyKey, actor } = named;
    const how = { idempotencyKey, ...actingAs(actor) };
    const answer = await withOrders((orders) => send(orders, { orderId, integration }, how));
    output.answer(answer, () => showPortalAnswer(answer, output.colors));
    return answer.status === 'requested' ? EXIT.notYet : EXIT.ok;
  };

  type Ask<Answer> = (orders: OrderScreening, order: OrderName) => Promise<Answer>;
  /** One order is answered as by any command, several by a line each: what one refuses the others are asked all the same. */
  const actOnEach = async <Answer extends object>(
    ids: readonly string[],
    of: Omit<OrderName, 'orderId'>,
    ask: Ask<Answer>,
    rowsOf: (answer: Answer) => Row[],
  ) => {
    const [only = '', another] = ids;
    return withOrders(async (orders): Promise<ExitCode> => {
      if (another === undefined) {
        const answer = await ask(orders, { orderId: only, ...of });
        output.answer(answer, () => facts(rowsOf(answer)));
        return EXIT.ok;
      }
      const codes: ExitCode[] = [];
      for (const orderId of ids) {
        try {
          const answer = await ask(orders, { orderId, ...of });
          output.line({ ...answer, orderId }, () => factsOf(orderId, rowsOf(answer)));
        } catch (error) {
          const problem = problemOf(error);
          codes.push(exitCodeOf(error));
          output.line({ orderId, problem }, () => factsOf(orderId, [['refused', problem.detail]]));
        }
      }
      return codes[0] ?? EXIT.ok;
    });
  };

  defineCommand(program, {
    name: 'cancel <orderId>',
    summary: 'Cancel the transaction with the service, within the cancel window',
    more: NOT_YET,
    options: [REASON, TRANSACTION, KEY, ACTOR, INTEGRATION],
    examples: ['cancel 1001 --reason "the customer asked"'],
    input: withReason,
    run: (input) => act(input, (orders, order, how) => orders.cancel(order, fieldsOf(input), how)),
  });

  defineCommand(program, {
    name: 'report-fraud <orderId>',
    summary: 'Ask analysts of the service to look at the transaction as fraud',
    more: NOT_YET,
    options: [REASON, TRANSACTION, KEY, ACTOR, INTEGRATION],
    examples: ['report-fraud 1001 --reason "the card holder called"'],
    input: withReason,
    run: (input) => act(input, (orders, order, how) => orders.reportFraud(order, fieldsOf(input), how)),
  });

  defineCommand(program, {
    name: 'chargeback <orderId>',
    summary: 'Submit a chargeback',
    more: `${NOT_YET}\nIt is never sent twice by itself: when the outcome of the first is unknown, look in the portal, then use --force.`,
    options: [
      ['--reason-code <code>', 'the reason code of the chargeback (required)'],
      ['--due-date <date>', 'the last day for documents, YYYY-MM-DD (required)'],
      ['--notice-date <date>', 'the day of the notice, YYYY-MM-DD'],
      ['--reference-number <number>', 'the reference number of the chargeback'],
      ['--carrier <name>', 'the shipping carrier'],
      ['--carrier-tracking-number <number>', 'the tracking number'],
      ['--notes <words>', 'anything else'],
      ['--inquiry', 'an inquiry, not a chargeback yet'],
      ['--force', 'send it although an earlier try may have been done'],
      TRANSACTION,
      KEY,
      ACTOR,
      INTEGRATION,
    ],
    examples: ['chargeback 1001 --reason-code 10.4 --due-date 2026-12-15 --reference-number CB-77'],
    input: z.strictObject({
      ...named,
      transactionId,
      reasonCode: shape.reason_code,
      dueDate: shape.due_date,
      noticeDate: shape.notice_date,
      referenceNumber: shape.reference_number,
      carrier: shape.carrier,
      carrierTrackingNumber: shape.carrier_tracking_number,
      notes: shape.notes,
      inquiry: z.literal(true).exactOptional(),
      force: z.literal(true).exactOptional(),
    }),
    run: ({
      reasonCode,
      dueDate,
      noticeDate,
      referenceNumber,
      carrierTrackingNumber,
      inquiry,
      ...others
    }) => {
      const { orderId, integration, idempotencyKey, actor, ...rest } = others;
      const fields = {
        ...rest,
        reason_code: reasonCode,
        due_date: dueDate,
        ...(noticeDate !== undefined && { notice_date: noticeDate }),
        ...(referenceNumber !== undefined && { reference_number: referenceNumber }),
        ...(carrierTrackingNumber !== undefined && { carrier_tracking_number: carrierTrackingNumber }),
        ...(inquiry && { inquiry: 'true' as const }),
      };
      const order = { orderId, integration, idempotencyKey, actor };
      return act(order, (orders, order, how) => orders.submitChargeback(order, fields, how));
    },
  });

  defineCommand(program, {
    name: 'customer-code <orderId> <code>',
    summary: 'Attach the customer code of a phone order',
    more: NOT_YET,
    options: [
      ['--email <address>', "the customer's e-mail; the order's unless given, required once it is closed"],
      TRANSACTION,
      KEY,
      ACTOR,
      INTEGRATION,
    ],
    examples: ['customer-code 1001 PHONE-4711'],
    input: z.strictObject({
      ...named,
      code: text(128),
      email: PORTAL_ACTION_TABLE['customer-code'].schema.shape.email,
      transactionId,
    }),
    run: ({ orderId, integration, idempotencyKey, actor, code, ...fields }) =>
      act({ orderId, integration, idempotencyKey, actor }, (orders, order, how) =>
        orders.attachCustomerCode(order, { customerCode: code, ...fields }, how),
      ),
  });

  defineCommand(program, {
    name: 'withdraw <orderId> <number>',
    summary: 'Take back a portal action that waits or is under way',
    more: `The number is the one that \`show\` lists. Status done: it had been done before it could be withdrawn.\n${NOT_YET}`,
    options: [KEY, ACTOR, INTEGRATION],
    examples: ['withdraw 1001 2'],
    input: z.strictObject({ ...named, number: actionNumber }),
    run: ({ number, ...order }) =>
      act(order, (orders, order, how) => orders.withdraw(order, { number }, how)),
  });

  defineCommand(program, {
    name: 'override <orderId...>',
    summary: 'Decide in place of the service: proceed or cancel, with a reason',
    more: `It stands until the next override or attempt, whatever the service says later. \`cancel\` also cancels with the service where it can be asked: \`notCanceled\` says why it is not.\n${SEVERAL}`,
    options: [
      ['--action <action>', 'proceed or cancel (required)'],
      ['--reason <words>', "why (required); it is kept in the order's history"],
      KEY,
      ACTOR,
      INTEGRATION,
    ],
    examples: ['override 1001 --action proceed --reason "the customer showed the card"'],
    input: z.strictObject({ ...several, action: overrideAction, reason }),
    run: ({ orderId, action, reason, idempotencyKey, actor, ...of }) =>
      actOnEach(
        orderId,
        of,
        (orders, order) => orders.override(order, { action, reason }, { idempotencyKey, ...actingAs(actor) }),
        (answer) => Object.entries(answer),
      ),
  });

  defineCommand(program, {
    name: 'redeliver <orderId> <sequence>',
    summary: 'Send an event of the order once more, with the same id and content',
    more: `The number is the one that \`show\` lists: the last 50 events are kept.\n${NOT_YET}`,
    options: [ACTOR, INTEGRATION],
    examples: ['redeliver 1001 2'],
    input: z.strictObject({ orderId, integration, actor, sequence: eventSequence }),
    run: async ({ sequence, actor, ...order }) => {
      const how = actingAs(actor);
      const answer = await withOrders((orders) => orders.redeliver(order, { sequence }, how));
      output.answer(answer, () => facts(Object.entries(answer)));
      return answer.status === 'requested' ? EXIT.notYet : EXIT.ok;
    },
  });

  defineCommand(program, {
    name: 'recheck <orderId...>',
    summary: 'Ask the order to read its decision from the service now',
    more: `It is done in the background, within seconds: see \`show\`, "last read". An order whose decision is \`error\` is screened again.\n${SEVERAL}`,
    options: [INTEGRATION],
    examples: ['recheck 1001', 'recheck 1001 1002 1003'],
    input: z.strictObject({ orderId: orderIds, integration }),
    run: ({ orderId, ...of }) =>
      actOnEach(
        orderId,
        of,
        (orders, order) => orders.recheck(order),
        ({ status }) => [['status', status]],
      ),
  });

  defineCommand(program, {
    name: 'acknowledge <orderId...>',
    summary: 'Clear what needs attention, with a reason',
    more: SEVERAL,
    options: [
      ['--reason <words>', "what was done about it (required); it is kept in the order's history"],
      KEY,
      ACTOR,
      INTEGRATION,
    ],
    examples: ['acknowledge 1001 --reason "refunded by hand"'],
    input: z.strictObject({ ...several, reason }),
    run: ({ orderId, reason, idempotencyKey, actor, ...of }) =>
      actOnEach(
        orderId,
        of,
        (orders, order) => orders.acknowledge(order, { reason }, { idempotencyKey, ...actingAs(actor) }),
        ({ cleared }) => [['cleared', cleared]],
      ),
  });
}

function fieldsOf({ reason, transactionId }: z.output<typeof withReason>) {
  return { ...(reason !== undefined && { reason }), ...(transactionId !== undefined && { transactionId }) };
}
