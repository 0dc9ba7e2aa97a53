/** Portal actions that the sandbox holds up, so that somebody can take them back, or give them up, meanwhile. */
import type { Client } from '@temporalio/client';
import { expect } from 'vitest';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { eventually } from '../support/index.ts';

type Faults = Parameters<Sandbox['control']['setFaults']>[0]['faults'];

/**
 * Asks for actions, each of which meets one of the faults.
 * @param ask begins the requests
 * @returns the requests, once all are at the sandbox
 */
export async function heldUp<T>(
  { control }: Sandbox,
  faults: Faults,
  ask: () => Promise<T>[],
): Promise<Promise<T>[]> {
  const played = () => control.faults().played.reduce((sum, { count }) => sum + count, 0);
  const before = played();
  control.setFaults({ faults: faults.map((fault) => ({ ...fault, times: 1 })) });
  const asked = ask();
  await eventually(async () => expect(played()).toBe(before + faults.length));
  return asked;
}

/** The first action of an order that has none. @param ask reports fraud */
export const underWay = <T>(sandbox: Sandbox, ask: () => Promise<T>) =>
  heldUp(sandbox, [{ operation: 'report-fraud', kind: 'delay', delayMs: 3_000 }], () => [ask()]);

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
