import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import fetch from 'node-fetch';
import { within } from '../../client/within.ts';
import { TASK_QUEUE_TYPE } from '../../task-queues.ts';
import type { Finding, finder } from './finding.ts';

/** Webhook and event signatures are refused from 5 minutes on; long before, times on record start to mislead. */
const WARN_MS = 5_000;
/** Nothing is sent in the last 30 s of a cancel window: a clock that is off by more sends too late. */
const FAULT_MS = 25_000;

/** `TASK_QUEUE_KIND_STICKY` of Temporal's API. */
const QUEUE_KIND_STICKY = 2;
/** A queue that nobody works on: polling it changes nothing but when it was last polled. A sticky one has one partition. */
const SCRATCH_QUEUE = { name: 'order-screening-doctor', kind: QUEUE_KIND_STICKY };
const POLL_MS = 3_000;

/** @param skewMs how far the other clock is ahead of this machine's; negative: behind */
export function clockFinding(check: ReturnType<typeof finder>, skewMs: number, whose: string): Finding {
  const off = Math.abs(skewMs);
  if (off < WARN_MS) return check.ok(`the clocks of this machine and of ${whose} agree`);
  const what = `the clock of ${whose} is ${(off / 1_000).toFixed(0)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const todo = 'Synchronize the clocks (NTP) of the machines: cancel windows are kept by them';
  return off < FAULT_MS ? check.warning(what, todo) : check.fault(what, todo);
}

/** @returns by how many milliseconds the clock behind an address is ahead, from its Date header; undefined when it gives none */
export async function dateHeaderSkew(address: string, withinMs: number): Promise<number | undefined> {
  const sent = Date.now();
  const response = await fetch(address, {
    method: 'HEAD',
    redirect: 'manual',
    signal: AbortSignal.timeout(withinMs),
  }).catch(() => undefined);
  const date = Date.parse(response?.headers.get('date') ?? '');
  if (Number.isNaN(date)) return undefined;
  // The header has whole seconds, cut off.
  return date + 500 - (sent + Date.now()) / 2;
}

/**
 * Measures the Temporal server's clock: it says when a queue was last polled.
 * @returns by how many milliseconds it is ahead; undefined when the server doesn't say
 */
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
    at = (await pollersOf(client, SCRATCH_QUEUE, 'workflow', deadline)).find(
      (one) => one.identity === identity,
    )?.at;
  }
  measured.abort();
  await poll;
  return at === undefined ? undefined : at - sent;
}

/** @returns who polled a task queue in the last minutes, and when by the server's clock, in milliseconds after the epoch */
export async function pollersOf(
  client: Client,
  taskQueue: { name: string; kind?: number },
  type: keyof typeof TASK_QUEUE_TYPE,
  deadline: number,
): Promise<{ identity: string; at: number }[]> {
  const { namespace } = client.options;
  const { pollers } = await within(client, deadline, () =>
    client.workflowService.describeTaskQueue({
      namespace,
      taskQueue,
      taskQueueType: TASK_QUEUE_TYPE[type],
    }),
  );
  return pollers.map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    at: optionalTsToMs(lastAccessTime) ?? 0,
  }));
}
