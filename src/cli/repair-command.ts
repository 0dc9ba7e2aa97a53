/** `repair`: resets an order's workflow if its workflow task fails, or if it ended too early. */
import { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { refuseCardData } from '../card-data/card-data.ts';
import { orderIdSchema } from '../client/read-requests.ts';
import { loadClientSettings } from '../config/index.ts';
import { reasonSchema } from '../contract/fields.ts';
import { DEFAULT_INTEGRATION, orderWorkflowId } from '../contract/ids.ts';
import { localEnvironment } from '../platform/local.ts';
import { connectOrFail } from './connect.ts';
import {
  ACTOR,
  actingAs,
  type CommandTools,
  defineCommand,
  flag,
  INTEGRATION,
  option,
} from './define-command.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Facts, facts } from './output.ts';
import { type Condition, type Repair, repairOrder } from './repair-order.ts';

const OUTCOMES: Record<Repair['outcome'], readonly [exitCode: ExitCode, words: string]> = {
  repaired: [EXIT.ok, 'repaired: a worker completed its next workflow task'],
  refused: [EXIT.refused, 'refused: nothing is to be repaired; --force resets it anyway'],
  failing: [
    EXIT.errorFound,
    'its workflow task fails from every point since its newest attempt and the last override: check that the screening service answers, roll the workers back, or use --force; else delete its workflow and adopt its transaction',
  ],
  'nothing-good': [
    EXIT.errorFound,
    'no workflow task was completed since its start, its newest attempt or the last override: if it is open, start workers of the build that ran it, or use --force; otherwise find the newest attempt’s transaction by its invoice number and delete the workflow; then adopt the transaction, and override it again if a person had, or, only if there is none, send the order again',
  ],
  untried: [
    EXIT.notYet,
    'it was reset, but no worker has taken its task yet: start a worker, then check again',
  ],
};

export function repairCommand(program: Command, { env, output }: CommandTools): void {
  defineCommand(program, {
    name: 'repair <orderId>',
    summary: 'Reset an order whose workflow task keeps failing, or whose workflow ended too early',
    more: `It resets to the last workflow task from which the order continues, not to before its newest attempt or an override, and repeats the later steps: polls, reads, events.
A reset is safe: a transaction that exists is found and not created again, and a chargeback isn't sent twice.
Exit code 3 if the order is healthy, was adopted under a different id, or was canceled since it ended or is being canceled, 6 if it can't be repaired, 7 if no worker has taken its task within 30 s.`,
    args: { orderId: orderIdSchema },
    options: {
      force: flag(
        'reset a healthy order as well, and to before its newest attempt or an override, which it forgets if a deadline has passed since',
      ),
      reason: option(reasonSchema, 'words', 'the reason; Temporal records it with the reset'),
      actor: ACTOR,
      integration: INTEGRATION,
    },
    examples: ['repair 1001', 'repair 1001 --reason "does not replay since the last rollout" --json'],
    run: async ({ orderId, force = false, reason, actor, integration = DEFAULT_INTEGRATION }) => {
      const by = actingAs(actor).by?.actor;
      // Temporal stores the reason of a reset in plain text.
      refuseCardData({ reason, actor: by });
      const words = `order-screening repair${by === undefined ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`;
      const { temporal } = loadClientSettings(localEnvironment(env).env);
      const client = new Client({ connection: await connectOrFail(temporal), namespace: temporal.namespace });
      const repair = await repairOrder(client, orderWorkflowId(integration, orderId), {
        force,
        reason: words,
      });
      output.answer({ orderId, integration, ...repair }, () => facts(factsOf(orderId, repair)));
      return OUTCOMES[repair.outcome][0];
    },
  });
}

export function factsOf(orderId: string, repair: Repair): Facts {
  const { condition, outcome, runId, newRunId, resetTo, eventsDropped, resets } = repair;
  return {
    order: orderId,
    before: conditionWords(condition),
    outcome: OUTCOMES[outcome][1],
    run: runId,
    'new run': newRunId,
    'reset to': resetTo && `event ${resetTo.eventId}${resetTo.at === undefined ? '' : ` of ${resetTo.at}`}`,
    repeated: resetTo && `the steps after it (${eventsDropped} events of the previous history)`,
    resets: resetTo && resets,
  };
}

function conditionWords(condition: Condition): string {
  switch (condition.kind) {
    case 'failing':
      return `its workflow task failed ${condition.tries - 1} times: ${condition.cause}`;
    case 'lost':
      return `it ended too early (${condition.status})`;
    case 'adopted':
      return `it ended too early (${condition.status}), and its transaction was adopted as a different order`;
    case 'canceled':
      return `it ended too early (${condition.status}), and its transaction was canceled since, or is being canceled: a repaired order would not know of that`;
    case 'healthy':
      return `healthy (${condition.status})`;
  }
}
