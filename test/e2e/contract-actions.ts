/** Calls that the sandbox holds up, or answers wrongly. */
import type { Client } from '@temporalio/client';
import { expect } from 'vitest';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import type { FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { eventually } from '../support/index.ts';
import type { ACTIONS } from './contract-requests.ts';
import { anOrderId } from './support.ts';

/** What the service is asked for an order. */
export interface Asked {
  operation: Fault['operation'];
  orderId: string;
}

type Fault = FaultPlanInput['faults'][number];

/** Returns an action that is asked for an order of its own. */
export const anAction = ([name, operation]: (typeof ACTIONS)[number]) => ({
  name,
  operation,
  orderId: anOrderId(),
});

/** What the sandbox knows a request by: a customer code names no order. */
const about = ({ operation, orderId }: Asked) => (operation === 'customer-code' ? {} : { invoice: orderId });

/** @returns the faults that hold each of the actions up once, and then answer it so */
export function holdingUp(actions: readonly Asked[], kind: Fault['kind'], delayMs: number): Fault[] {
  return actions.map((action) => ({
    operation: action.operation,
    kind,
    delayMs,
    times: 1,
    match: about(action),
  }));
}

/**
 * Asks for actions that the sandbox holds up.
 * @param ask begins a request
 * @returns the requests, once all are at the sandbox
 */
export async function heldUp<A extends Asked, T>(
  { control }: Sandbox,
  actions: readonly A[],
  ask: (action: A) => Promise<T>,
): Promise<Promise<T>[]> {
  const requests = () =>
    actions.map((action) => control.ledger({ operation: action.operation, ...about(action) }).length);
  const before = requests();
  const asked = actions.map(ask);
  await eventually(() => requests().every((count, index) => count > (before[index] ?? 0)));
  return asked;
}

/** The first action of an order that has none. @param ask reports fraud */
export function underWay<T>(sandbox: Sandbox, orderId: string, ask: () => Promise<T>): Promise<Promise<T>[]> {
  const actions: Asked[] = [{ operation: 'report-fraud', orderId }];
  sandbox.control.setFaults({ faults: holdingUp(actions, 'delay', 3_000) });
  return heldUp(sandbox, actions, ask);
}

/** Cancels in Temporal, as an operator can, the portal actions of an integration's closed orders. */
export async function giveUp({ workflow }: Client, integration: string, count: number): Promise<void> {
  const query = `WorkflowId STARTS_WITH 'portal:${integration}:' AND ExecutionStatus = 'Running'`;
  const ids = await eventually(async () => {
    const found: string[] = [];
    for await (const { workflowId } of workflow.list({ query })) found.push(workflowId);
    expect(found).toHaveLength(count);
    return found;
  });
  await Promise.all(ids.map((id) => workflow.getHandle(id).cancel()));
}

/** Plays a fault once, when the status of an order's transaction is read by its invoice number. */
export function spoilStatus({ control }: Sandbox, invoice: string, kind: Fault['kind']): void {
  control.setFaults({ faults: [{ operation: 'status', kind, times: 1, match: { invoice } }] });
}

/** @returns the id of an order that somebody started without a record, and terminated before a worker took it */
export async function terminatedUnrecorded(client: Client): Promise<string> {
  const orderId = anOrderId();
  const started = await client.workflow.start('screenOrder', {
    workflowId: `order:default:${orderId}`,
    taskQueue: 'polled-by-nobody',
  });
  await started.terminate();
  return orderId;
}
