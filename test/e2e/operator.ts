/** What others do beside the API: an operator with the two commands, a plugin that screens at the service itself. */
import { execFile, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Client } from '@temporalio/client';
import { TASK_QUEUE } from '../../src/contract/ids.ts';
import { SCREEN_ORDER } from '../../src/contract/messages.ts';
import { findTemporalBinary } from '../../src/dev/temporal-binary.ts';
import { createScreeningClient, parseTransaction } from '../../src/screening-service/index.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually } from '../support/index.ts';
import { ROOT } from '../support/pages.ts';
import { anOrderId, type Deployment } from './support.ts';

/** Starts `order-screening` as `npx order-screening` does, without a terminal. */
export function startCli(args: readonly string[], env: NodeJS.ProcessEnv, stdin = '') {
  const child = spawn(process.execPath, ['bin/order-screening.mjs', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'pipe',
  });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    written += part;
  });
  child.stdin.on('error', () => undefined).end(stdin);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const done = Promise.all([ended, text(child.stderr)]).then(([code, stderr]) => ({
    code,
    stdout: written,
    stderr,
    /** Standard output, which must be one JSON document; `problem`: standard error, which must be one. */
    json: () => JSON.parse(written),
    problem: () => JSON.parse(stderr),
  }));
  return {
    output: () => written,
    /** As `| head` does it. */
    closeOutput: () => child.stdout.destroy(),
    stop: () => child.kill('SIGTERM'),
    done,
  };
}

/** Runs `order-screening` to its end. */
export function runCli(args: readonly string[], env: NodeJS.ProcessEnv, stdin = '') {
  return startCli(args, env, stdin).done;
}

/** The whole lines of JSON in an output. */
export function jsonLines(output: string) {
  return (output.match(/.+\n/g) ?? []).map((line) => JSON.parse(line));
}

/** Returns a function that runs the `temporal` command against the server. It rejects when the command fails. */
export function temporalCli(server: { readonly address: string }): (...args: string[]) => Promise<string> {
  return async (...args) => {
    const path = await findTemporalBinary();
    const { stdout } = await promisify(execFile)(path, [...args, '--address', server.address]);
    return stdout;
  };
}

export const orderOf = (orderId: string) => ['--workflow-id', `order:default:${orderId}`];

/** Starts an order in Temporal directly, without the client library. */
export function startRaw(client: Client, orderId: string, input: object, options: object = {}) {
  return client.workflow.start(SCREEN_ORDER, {
    taskQueue: TASK_QUEUE,
    workflowId: `order:default:${orderId}`,
    args: [{ orderId, ...input }],
    ...options,
  });
}

/** What the server says of a workflow. The SDK's own `describe` fails on an encrypted memo. */
export function describeRaw({ workflowService, options: { namespace } }: Client, workflowId: string) {
  return workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
}

/** Waits until a workflow has ended. */
export async function untilEnded(client: Client, workflowId: string): Promise<void> {
  await eventually(
    async () => {
      const { workflowExecutionInfo } = await describeRaw(client, workflowId);
      if (!workflowExecutionInfo?.closeTime) throw new Error(`${workflowId} has not ended`);
    },
    { timeoutMs: 30_000 },
  );
}

/** Waits until an activity of that type is pending. @returns its id */
export function pendingActivity(client: Client, workflowId: string, type = 'pollStatus'): Promise<string> {
  return eventually(async () => {
    const { pendingActivities } = await describeRaw(client, workflowId);
    const found = pendingActivities?.find(({ activityType }) => activityType?.name === type);
    if (!found?.activityId) throw new Error(`no ${type} is pending`);
    return found.activityId;
  });
}

/** Makes an order's history unreadable for every worker: its poll ends with a payload under a key that no process has. */
export async function poison(client: Client, orderId: string): Promise<void> {
  const workflowId = `order:default:${orderId}`;
  const encoding = Buffer.from('binary/encrypted');
  const metadata = { encoding, 'encryption-key-id': Buffer.from('nobody-has-it') };
  await client.workflowService.respondActivityTaskCompletedById({
    namespace: client.options.namespace,
    workflowId,
    activityId: await pendingActivity(client, workflowId),
    result: { payloads: [{ metadata, data: Buffer.alloc(60) }] },
  });
}

/** Screens an order at the screening service itself, as a plugin does. @returns the id of its transaction */
export async function screenedByPlugin(
  { sandbox, settings }: Deployment,
  invoiceNumber = anOrderId(),
  decision = 'review',
): Promise<string> {
  const client = createScreeningClient({
    baseUrl: sandbox.testBaseUrl,
    portalBaseUrl: sandbox.portalBaseUrl,
    dialect: 'definition',
    apiKey: settings.SCREENING_API_KEY ?? '',
  });
  const rules = { workflow: 'pre-acceptance', mode: 'test', now: new Date() } as const;
  const parsed = parseTransaction(withEmail(`${decision}@example.com`), rules);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.fieldErrors));
  const { transaction } = parsed;
  return (await client.createTransaction({ transaction, enrich: false, invoiceNumber })).id;
}

/** @returns a moment that long ago, as a plugin has it in its table */
export function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}
