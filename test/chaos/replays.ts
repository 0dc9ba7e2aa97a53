import type { Client } from '@temporalio/client';
import { faultsOfCutReplays, faultsOfReplays, historiesOf } from '../support/replays.ts';
import type { OrderPlan } from './plan.ts';
import { Dice } from './random.ts';

const KEPT = 20;
/** A thousand orders have ten thousand places to cut at, and twenty to forty replays can be had in a second. */
const CUTS = 800;

export interface Replays {
  /** What Temporal says of each history that does not replay, by order. */
  faults: Map<string, string>;
  /** How many cut histories were replayed. */
  cuts: number;
}

/** Replays every history in one piece, and a sample of them, drawn from the seed, cut at the start of a workflow task. */
export async function replayAll(client: Client, plans: readonly OrderPlan[], seed: number): Promise<Replays> {
  const orderIds = new Map(plans.map((plan) => [workflowIdOf(plan), plan.orderId]));
  const workflowIds = [...orderIds.keys()];
  const dice = new Dice(seed, 'cuts');
  const each = CUTS / plans.length;
  const cut = await faultsOfCutReplays(historiesOf(client, workflowIds), (workflowId, tasks) =>
    drawnTasks(dice, workflowId, tasks, each),
  );
  const whole = await faultsOfReplays(client, workflowIds);
  const faults = [...cut.faults, ...whole].map(
    ([workflowId, fault]) => [orderIds.get(workflowId) ?? workflowId, fault] as const,
  );
  return { faults: new Map(faults), cuts: cut.replayed };
}

/** @returns which of an order's workflow tasks its history is cut at: all, or so many on average */
export function drawnTasks(dice: Dice, workflowId: string, tasks: number, average: number): number[] {
  const all = Array.from({ length: tasks }, (_, index) => index + 1);
  if (tasks <= average) return all;
  const count = Math.floor(average) + (dice.chance(`more|${workflowId}`, average % 1) ? 1 : 0);
  const drawn = (task: number) => dice.number(`${workflowId}|${task}`);
  return all.sort((a, b) => drawn(a) - drawn(b)).slice(0, count);
}

/** @returns the histories of the first of these orders, for whoever looks for the cause of an anomaly */
export async function firstHistories(
  client: Client,
  plans: readonly OrderPlan[],
): Promise<{ workflowId: string; history: unknown }[]> {
  const found: { workflowId: string; history: unknown }[] = [];
  const workflowIds = plans.slice(0, KEPT).map(workflowIdOf);
  for await (const one of historiesOf(client, workflowIds)) found.push(one);
  return found;
}

function workflowIdOf({ integration, orderId }: OrderPlan): string {
  return `order:${integration}:${orderId}`;
}
