/** Whether the clocks agree: cancel windows are kept by them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { msOf } from '../../client/describe-order.ts';
import { within } from '../../client/temporal-errors.ts';
import { TASK_QUEUE_TYPE } from '../../contract/ids.ts';
import { ask, failed, ok, skipped, type Verdict, warning } from './finding.ts';

/** Webhook and event signatures are refused from 5 minutes on; long before, times on record start to mislead. */
const WARN_MS = 5_000;
/** Nothing is sent in the last 30 s of a cancel window: a clock that is off by nearly as much may send too late. */
const ERROR_MS = 25_000;

/** `TASK_QUEUE_KIND_STICKY` of Temporal's API. */
const QUEUE_KIND_STICKY = 2;
/** A queue that nobody works on: polling it changes nothing but when it was last polled. A sticky one has one partition. */
const SCRATCH_QUEUE = { name: 'order-screening-doctor', kind: QUEUE_KIND_STICKY };
const POLL_MS = 3_000;

/** @param skewMs by how much the other clock is ahead of this machine's; negative: behind */
export function clockVerdict(skewMs: number | undefined, whose: string, silent: string): Verdict {
  if (skewMs === undefined) return skipped(silent);
  const off = Math.abs(skewMs);
  if (off < WARN_MS) return ok(`the clocks of this machine and of ${whose} agree`);
  const what = `the clock of ${whose} is ${(off / 1_000).toFixed(0)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const todo = 'Synchronize the clocks (NTP) of the machines: cancel windows are kept by them';
  return off < ERROR_MS ? warning(what, todo) : failed(what, todo);
}

/** Returns by how many milliseconds the clock behind an address is ahead, from its Date header; undefined without one. */
export async function dateHeaderSkew(address: string): Promise<number | undefined> {
  const sent = Date.now();
  const response = await ask(address, { method: 'HEAD' });
  const date = Date.parse(response?.headers.get('date') ?? '');
  // The header has whole seconds, cut off.
  return Number.isNaN(date) ? undefined : date + 500 - (sent + Date.now()) / 2;
}

/** Returns by how many milliseconds the Temporal server's clock is ahead: the server says when a queue was last polled. */
export async function temporalSkew(client: Client): Promise<number | undefined> {
  const { namespace } = client.options;
  const identity = `doctor-${randomUUID()}`;
  const sent = Date.now();
  const deadline = sent + POLL_MS;
  const measured = new AbortController();
  // The server refuses a poll without a deadline.
  const poll = client
    .withDeadline(deadline, () =>
      client.withAbortSignal(measured.signal, () =>
        client.workflowService.pollWorkflowTaskQueue({ namespace, identity, taskQueue: SCRATCH_QUEUE }),
      ),
    )
    .catch(() => undefined);
  let at: number | undefined;
  while (at === undefined && Date.now() < deadline - 500) {
    await sleep(50);
    const pollers = await pollersOf(client, SCRATCH_QUEUE, 'workflow', deadline);
    at = pollers.find((one) => one.identity === identity)?.at;
  }
  measured.abort();
  await poll;
  return at === undefined ? undefined : at - sent;
}

/** Returns who polled a task queue in the last minutes, and when by the server's clock, in milliseconds after the epoch. */
export async function pollersOf(
  client: Client,
  taskQueue: { name: string; kind?: number },
  type: keyof typeof TASK_QUEUE_TYPE,
  deadline: number,
): Promise<{ identity: string; at: number }[]> {
  const { namespace } = client.options;
  const taskQueueType = TASK_QUEUE_TYPE[type];
  const { pollers } = await within(client, deadline, () =>
    client.workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType }),
  );
  return pollers.map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    at: msOf(lastAccessTime) ?? 0,
  }));
}
