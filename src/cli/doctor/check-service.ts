/** Whether the screening service takes the keys, and whether the clocks agree; and what a finding is. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import fetch from 'node-fetch';
import { msOf } from '../../client/describe-order.ts';
import { within } from '../../client/temporal-errors.ts';
import type { Config } from '../../config/index.ts';
import { TASK_QUEUE_TYPE } from '../../contract/ids.ts';
import type { Integration } from '../../contract/policy.ts';
import { createScreeningClient, ScreeningError } from '../../screening/index.ts';

/** How long a check waits for whom it asks. */
export const CHECK_WITHIN_MS = 5_000;

export type FindingStatus = 'ok' | 'warning' | 'fault' | 'skipped';

/** What a check found. No secret, no personal data, of an address that may hold a secret only the origin. */
export interface Finding {
  /** What was checked, a stable slug. */
  check: string;
  status: FindingStatus;
  /** What is so, or what is wrong. */
  what: string;
  /** What to do about it. */
  todo?: string;
}

/** @returns a number of things in words: `1 worker`, `2 workers` */
export function counted(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

/** Makes the findings of one check. */
export function finder(check: string) {
  return {
    ok: (what: string): Finding => ({ check, status: 'ok', what }),
    skipped: (what: string): Finding => ({ check, status: 'skipped', what }),
    warning: (what: string, todo: string): Finding => ({ check, status: 'warning', what, todo }),
    fault: (what: string, todo: string): Finding => ({ check, status: 'fault', what, todo }),
  };
}

/** Asks the service of each integration, with its key, for a transaction that doesn't exist: that changes nothing. */
export async function checkService({ integrations }: Config): Promise<Finding[]> {
  const findings = await Promise.all(
    [...integrations.values()].map(async (integration) => [
      await checkKey(integration),
      ...checkPortalAddress(integration),
      await checkClock(integration),
    ]),
  );
  return [...findings.flat(), ...checkSharedKeys([...integrations.values()])];
}

/** Invoice numbers of one account are one space: with a key for two integrations each may find the other's orders there. */
export function checkSharedKeys(integrations: readonly Integration[]): Finding[] {
  return integrations.flatMap((one, index) => {
    const key = one.apiKey();
    const other = integrations.slice(0, index).find((earlier) => key && earlier.apiKey() === key);
    if (other === undefined) return [];
    return [
      finder(`shared-key:${one.name}`).warning(
        `${one.name} and ${other.name} have one key, so that their invoice numbers must differ`,
        'Give each integration a key of its own, or see that no two orders have one invoice number',
      ),
    ];
  });
}

async function checkKey(integration: Integration): Promise<Finding> {
  const { name, baseUrl, mode } = integration;
  const check = finder(`screening-service:${name}`);
  const apiKey = integration.apiKey();
  if (!apiKey) return check.skipped('its key is not set');
  try {
    const client = createScreeningClient({ ...integration, apiKey });
    await client.statusById(randomUUID(), { timeoutMs: CHECK_WITHIN_MS });
    return notTheService(check, baseUrl);
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    const { reason } = error;
    if (reason === 'not-found') return check.ok('it answers, and the key is right');
    if (reason === 'malformed-reply' || reason === 'other-transaction') return notTheService(check, baseUrl);
    if (reason === 'forbidden') {
      return check.fault(
        'the screening service refuses the key (403)',
        `Set the key of the variable that apiKeyEnv names, and see that key and baseUrl are both of mode ${mode}`,
      );
    }
    return check.fault(
      `the screening service at ${originOf(baseUrl)} gives no answer to go by (${reason})`,
      'Check baseUrl (SCREENING_BASE_URL), the network, and whether the service is up',
    );
  }
}

function notTheService(check: ReturnType<typeof finder>, baseUrl: string): Finding {
  return check.fault(
    `${originOf(baseUrl)} answers, but not as the screening service does`,
    'Check the path of baseUrl (SCREENING_BASE_URL)',
  );
}

/** No portal operation is harmless, so only the address is looked at. */
function checkPortalAddress({ name, portalBaseUrl }: Integration): Finding[] {
  if (/\/api\/v1\/transaction-update\/?$/.test(portalBaseUrl)) return [];
  return [
    finder(`portal-address:${name}`).warning(
      'the portal address does not end in /api/v1/transaction-update',
      'Check portalBaseUrl (SCREENING_PORTAL_BASE_URL): cancels and reports go there',
    ),
  ];
}

async function checkClock({ name, baseUrl }: Integration): Promise<Finding> {
  const check = finder(`clock:screening-service:${name}`);
  const skewMs = await dateHeaderSkew(baseUrl, CHECK_WITHIN_MS);
  if (skewMs === undefined) return check.skipped('the service gives no Date');
  return clockFinding(check, skewMs, 'the screening service');
}

/** What may be shown of an address: a path may hold a secret. */
export function originOf(address: string): string {
  return new URL(address).origin;
}

/** Webhook and event signatures are refused from 5 minutes on; long before, times on record start to mislead. */
const WARN_MS = 5_000;
/** Nothing is sent in the last 30 s of a cancel window: a clock that is off by nearly as much may send too late. */
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
async function dateHeaderSkew(address: string, withinMs: number): Promise<number | undefined> {
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
    at: msOf(lastAccessTime) ?? 0,
  }));
}
