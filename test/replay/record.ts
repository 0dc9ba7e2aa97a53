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

/** Each kind of order: its integration, who buys, and what happens to it. */
const KINDS: Record<
  string,
  {
    policy: object;
    email: string;
    after?: (all: Deployment, orderId: string, integration: string) => Promise<unknown>;
  }
> = {
  passed: { policy: {}, email: 'pass@example.com' },
  declined: { policy: {}, email: 'fail@example.com' },
  'declined-and-retried': {
    policy: {},
    email: 'fail@example.com',
    after: (all, orderId, integration) =>
      all.call('POST', `/v1/orders/${orderId}/screening`, {
        integration,
        attempt: 2,
        transaction: withEmail('pass@example.com'),
      }),
  },
  'review-by-hint': {
    policy: { poll: { first: '1m', factor: 1, max: '1m' } },
    email: 'review@example.com',
    after: async (all, orderId, integration) => {
      all.sandbox.control.decide(orderId, 'pass');
      await fetch(`${all.apiUrl}/v1/webhooks/${integration}/a-webhook-secret?invoiceNumber=${orderId}`);
    },
  },
  'review-by-poll': {
    policy: {},
    email: 'review@example.com',
    after: async (all, orderId) => all.sandbox.control.decide(orderId, 'pass'),
  },
  'review-unresolved-and-canceled': { policy: { onUnresolvedReview: 'cancel' }, email: 'review@example.com' },
  'review-failed-and-canceled': {
    policy: {},
    email: 'review@example.com',
    after: async (all, orderId) => all.sandbox.control.decide(orderId, 'fraudulent'),
  },
  'post-acceptance-canceled': { policy: { workflow: 'post-acceptance' }, email: 'fraudulent@example.com' },
  'error-to-the-end': { policy: {}, email: 'error@example.com' },
  'pending-and-caught-up': {
    policy: { checkoutBudget: '300ms' },
    email: 'pass@example.com',
  },
  skipped: { policy: { skip: [{ amountAtLeast: 0 }] }, email: 'pass@example.com' },
  passive: { policy: { passive: true }, email: 'fail@example.com' },
  'canceled-by-a-person': {
    policy: {},
    email: 'pass@example.com',
    after: (all, orderId, integration) =>
      all.call('POST', `/v1/orders/${orderId}/cancel?integration=${integration}`, {}),
  },
  'reported-as-fraud': {
    policy: {},
    email: 'pass@example.com',
    after: (all, orderId, integration) =>
      all.call('POST', `/v1/orders/${orderId}/report-fraud?integration=${integration}`, {}),
  },
};

const temporal = await findTemporalBinary();
const server = await startEmbeddedTemporal({ port: 0 });
const connection = await Connection.connect({ address: server.address });
const client = new Client({ connection });
const policies = Object.entries(KINDS).map(([kind, { policy }]) => [kind, { ...SHORT, ...policy }]);
const all = await deploy(server.address, Object.fromEntries([['default', {}], ...policies]), {
  webhooks: false,
});
try {
  await mkdir(DIRECTORY, { recursive: true });
  await Promise.all(Object.keys(KINDS).map(record));
} finally {
  await all.stop();
  await connection.close();
  await server.stop();
}

async function record(kind: string): Promise<void> {
  const file = join(DIRECTORY, `${release}-${kind}.json`);
  const { email, after } = KINDS[kind] ?? { email: '' };
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
    transaction: withEmail(email),
  });
  await after?.(all, orderId, kind);
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
