/** Checks the clocks, on which cancel windows depend. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { msOf } from '../../client/describe-order.ts';
import { within } from '../../client/temporal-errors.ts';
import { TASK_QUEUE_TYPE } from '../../contract/ids.ts';
import { ask, failed, ok, skipped, type Verdict, warning } from './finding.ts';

/** Recorded times mislead long before signatures are refused, at 5 minutes. */
const WARN_MS = 5_000;
/** Nothing is sent in the last 30 s of a cancel window; with nearly this much skew a cancel may be sent too late. */
const ERROR_MS = 25_000;

/** `TASK_QUEUE_KIND_STICKY` of Temporal's API. */
const QUEUE_KIND_STICKY = 2;
/** A queue without tasks: a poll only updates its last access time. A sticky queue has one partition. */
const SCRATCH_QUEUE = { name: 'order-screening-doctor', kind: QUEUE_KIND_STICKY };
const POLL_MS = 3_000;

/** @param skewMs milliseconds that the other clock is ahead of this machine's; negative if behind. @param silent the text if it is unknown */
export function clockVerdict(skewMs: number | undefined, whose: string, silent: string): Verdict {
  if (skewMs === undefined) return skipped(silent);
  const off = Math.abs(skewMs);
  if (off < WARN_MS) return ok(`the clocks of this machine and of ${whose} agree`);
  const what = `the clock of ${whose} is ${(off / 1_000).toFixed(0)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const todo = 'Synchronize the clocks (NTP) of the machines: cancel windows depend on them';
  return off < ERROR_MS ? warning(what, todo) : failed(what, todo);
}

/** Returns the milliseconds that a server's clock is ahead, from its Date header; undefined without one. */
export async function dateHeaderSkew(address: string): Promise<number | undefined> {
  const sent = Date.now();
  const response = await ask(address, { method: 'HEAD' });
  const date = Date.parse(response?.headers.get('date') ?? '');
  // The header is truncated to whole seconds.
  return Number.isNaN(date) ? undefined : date + 500 - (sent + Date.now()) / 2;
}

/** Returns the milliseconds that the Temporal server's clock is ahead, from the time of a poll that the server reports. */
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

/** Returns the recent pollers of a task queue, each with its last poll by the server's clock, in milliseconds after the epoch. */
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
