/** `repair`: has an order that stands still go on, by a reset of its workflow. */
import { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { z } from 'zod';
import { loadClientSettings, unreachableTemporal } from '../config/index.ts';
import { DEFAULT_INTEGRATION, orderWorkflowId } from '../contract/ids.ts';
import { localEnvironment } from '../process/local.ts';
import {
  ACTOR,
  actingAs,
  actor,
  type CommandTools,
  connectTemporal,
  defineCommand,
  INTEGRATION,
  integration,
  orderId,
  reason,
} from './define-command.ts';
import { EXIT, type ExitCode, UnreachableError } from './exit-codes.ts';
import { facts, plain } from './output.ts';
import { type Condition, type Repair, repairOrder } from './repair-order.ts';

const EXITS: Record<Repair['outcome'], ExitCode> = {
  repaired: EXIT.ok,
  refused: EXIT.refused,
  failing: EXIT.faultFound,
  'nothing-good': EXIT.faultFound,
  untried: EXIT.notYet,
};

const OUTCOMES: Record<Repair['outcome'], string> = {
  repaired: 'repaired: a worker completed its next workflow task',
  refused: 'refused: nothing is wrong with it; --force resets it all the same',
  failing:
    'its workflow task fails from every point: roll the workers back, or adopt its transaction under another order id',
  'nothing-good': 'none of its workflow tasks was ever completed: terminate it, and send the order again',
  untried: 'it was reset, and no worker has taken its task yet: start a worker, then look again',
};

export function repairCommand(program: Command, { env, output }: CommandTools): void {
  defineCommand(program, {
    name: 'repair <orderId>',
    summary: 'Reset an order whose workflow task fails again and again, or that was ended by force',
    more: `It goes back to the last workflow task from which the order goes on, and does again what came after: polls, reads, events.
A reset is safe: a transaction that exists is found and not created again, and a chargeback isn't sent twice.
Exit code 3 when the order is healthy, 6 when it can't be repaired, 7 when no worker has taken its task within 30 s.`,
    options: [
      ['--force', 'reset a healthy order as well'],
      ['--reason <words>', 'why; Temporal keeps it with the reset'],
      ACTOR,
      INTEGRATION,
    ],
    examples: ['repair 1001', 'repair 1001 --reason "does not replay since the last rollout" --json'],
    input: z.strictObject({
      orderId,
      force: z.boolean().exactOptional(),
      reason: reason.exactOptional(),
      actor,
      integration,
    }),
    run: async ({
      orderId: name,
      force = false,
      reason: why,
      actor: who,
      integration: of = DEFAULT_INTEGRATION,
    }) => {
      const by = actingAs(who).by?.actor;
      const words = `order-screening repair${by === undefined ? '' : ` by ${by}`}${why === undefined ? '' : `: ${why}`}`;
      const client = await connect(env);
      const repair = await repairOrder(client, orderWorkflowId(of, name), { force, reason: words });
      output.answer({ orderId: name, integration: of, ...repair }, () => facts(rowsOf(name, repair)));
      return EXITS[repair.outcome];
    },
  });
}

async function connect(env: NodeJS.ProcessEnv): Promise<Client> {
  const { temporal } = loadClientSettings(localEnvironment(env).env);
  const connection = await connectTemporal(temporal).catch(() => {
    throw new UnreachableError(`nothing was sent: ${unreachableTemporal(temporal.connection)}`);
  });
  return new Client({ connection, namespace: temporal.namespace });
}

function rowsOf(orderId: string, repair: Repair): [string, string][] {
  const { condition, outcome, runId, newRunId, resetTo, eventsDropped, resets } = repair;
  return [
    ['order', plain(orderId)],
    ['before', plain(conditionWords(condition))],
    ['outcome', OUTCOMES[outcome]],
    ['run', runId],
    ...(resetTo === undefined
      ? []
      : [
          ['new run', newRunId ?? ''] as [string, string],
          ['reset to', `event ${resetTo.eventId}${resetTo.at === undefined ? '' : ` of ${resetTo.at}`}`] as [
            string,
            string,
          ],
          ['done again', `what came after it (${eventsDropped} events of the history before)`] as [
            string,
            string,
          ],
          ['resets', String(resets)] as [string, string],
        ]),
  ];
}

function conditionWords(condition: Condition): string {
  switch (condition.kind) {
    case 'failing':
      return `its workflow task failed ${condition.tries - 1} times: ${condition.cause}`;
    case 'lost':
      return `it ended too early (${condition.status})`;
    case 'healthy':
      return `healthy (${condition.status})`;
  }
}
