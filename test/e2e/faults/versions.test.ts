/** The starter writes a version into an order's input. A worker that does not run that version leaves the order waiting. */
import { expect, it } from 'vitest';
import { VERSION } from '../../../src/contract/version.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { describeRaw, startRaw } from '../operator.ts';
import { anOrderId, withDeployment } from '../support.ts';

const later = anOrderId();
const server = withTestServer({ except: (workflowId) => workflowId.endsWith(later) });
const all = withDeployment(server, { default: {} });

const start = (orderId: string, version?: number, more = {}) =>
  startRaw(server.client, orderId, {
    transaction: aTransaction(),
    ...(version !== undefined && { version }),
    ...more,
  });

it.each([undefined, VERSION])('an order of version %s runs', async (version) => {
  const orderId = anOrderId();
  await start(orderId, version);
  await all.until(orderId, ({ decision }) => decision === 'pass');
});

it('an order of a later version waits, and nothing is sent for it', { timeout: 60_000 }, async () => {
  // It may have words that this version doesn't know.
  const { workflowId } = await start(later, VERSION + 1, { workflow: 'a later word' });
  const isTriedAgain = async () => {
    const { pendingWorkflowTask } = await describeRaw(server.client, workflowId);
    expect(pendingWorkflowTask?.attempt).toBeGreaterThan(1);
  };
  await eventually(isTriedAgain, { timeoutMs: 30_000 });
  expect(all.sandbox.control.ledger({ invoice: later })).toEqual([]);
  // A worker of that version would continue it.
  await server.client.workflow.getHandle(workflowId).terminate('done with the test');
});
