/**
 * Records the history of each kind of order into test/replay/histories/: `node --import ./bin/typescript.mjs test/replay/record.ts`. Run it
 * for a released shape of the workflow; what is there already stays, since orders of that shape may still be open.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import type { Decision } from '../../src/contract/words.ts';
import { startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { findTemporalBinary } from '../../src/dev/temporal-binary.ts';
import { anOrderId, type Deployment, deploy } from '../e2e/support.ts';
import { withEmail } from '../fixtures/transactions.ts';

const DIRECTORY = join(import.meta.dirname, 'histories');
const [, , release = 'unreleased'] = process.argv;

const SHORT = {
  cancelWindow: '5s',
  poll: { first: '300ms', factor: 1, max: '300ms' },
  rescreenOnError: { tries: 1, pause: '300ms' },
  retryWithin: '2s',
  gatewayResultWithin: '2s',
};

type Kind = [decision: Decision, policy?: object, after?: (order: Recorded) => Promise<unknown>];

interface Recorded {
  all: Deployment;
  orderId: string;
  /** The kind's name. */
  integration: string;
}

const post =
  (path: string, body: object = {}) =>
  ({ all, orderId, integration }: Recorded) =>
    all.call('POST', `/v1/orders/${orderId}/${path}?integration=${integration}`, body);
const decide =
  (decision: Decision) =>
  async ({ all, orderId }: Recorded) =>
    all.sandbox.control.decide(orderId, decision);
const decideAndHint = async (order: Recorded) => {
  await decide('pass')(order);
  const { all, integration, orderId } = order;
  await fetch(`${all.apiUrl}/v1/webhooks/${integration}/a-webhook-secret?invoiceNumber=${orderId}`);
};
const secondAttempt = { attempt: 2, transaction: withEmail('pass@example.com') };

/** Each kind of order: who buys, its policy, and what happens to it after its checkout. */
const KINDS: Record<string, Kind> = {
  passed: ['pass'],
  declined: ['fail'],
  'declined-and-retried': ['fail', {}, post('screening', secondAttempt)],
  'review-by-hint': ['review', { poll: { first: '1m', factor: 1, max: '1m' } }, decideAndHint],
  'review-by-poll': ['review', {}, decide('pass')],
  'review-unresolved-and-canceled': ['review', { onUnresolvedReview: 'cancel' }],
  'review-failed-and-canceled': ['review', {}, decide('fraudulent')],
  'post-acceptance-canceled': ['fraudulent', { workflow: 'post-acceptance' }],
  'error-to-the-end': ['error'],
  'pending-and-caught-up': ['pass', { checkoutBudget: '300ms' }],
  skipped: ['pass', { skip: [{ amountAtLeast: 0, currency: ['USD'] }] }],
  passive: ['fail', { passive: true }],
  'canceled-by-a-person': ['pass', {}, post('cancel')],
  'reported-as-fraud': ['pass', {}, post('report-fraud')],
};

const temporal = await findTemporalBinary();
const server = await startEmbeddedTemporal({ port: 0 });
const connection = await Connection.connect({ address: server.address });
const client = new Client({ connection });
const policies = Object.entries(KINDS).map(([kind, [, policy]]) => [kind, { ...SHORT, ...policy }]);
const all = await deploy(server.address, Object.fromEntries([['default', {}], ...policies]), {
  webhooks: false,
});
try {
  await mkdir(DIRECTORY, { recursive: true });
  await Promise.all(Object.entries(KINDS).map(record));
} finally {
  await all.stop();
  await connection.close();
  await server.stop();
}

async function record([kind, [decision, , after]]: [string, Kind]): Promise<void> {
  const file = join(DIRECTORY, `${release}-${kind}.json`);
  if (existsSync(file)) {
    console.log(`kept      ${kind}`);
    return;
  }
  const orderId = anOrderId();
  if (kind === 'pending-and-caught-up') {
    all.sandbox.control.setFaults({
      faults: [
        { operation: 'create-transaction', kind: 'hang-after-commit', times: 1, match: { invoice: orderId } },
      ],
    });
  }
  await all.call('POST', `/v1/orders/${orderId}/screening`, {
    integration: kind,
    transaction: withEmail(`${decision}@example.com`),
  });
  await after?.({ all, orderId, integration: kind });
  const handle = client.workflow.getHandle(`order:${kind}:${orderId}`);
  await handle.result();
  const show = ['workflow', 'show', '--workflow-id', handle.workflowId, '--address', server.address];
  const { stdout } = await promisify(execFile)(temporal, [...show, '--output', 'json'], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const history = JSON.parse(stdout, ofNoMachine);
  await writeFile(file, `${JSON.stringify({ workflowId: handle.workflowId, history })}\n`);
  console.log(`recorded  ${kind}: ${history.events.length} events`);
}

/** What only tells of the machine that recorded it is left out. */
function ofNoMachine(key: string, value: unknown): unknown {
  return key === 'stackTrace' || key === 'identity' ? undefined : value;
}
