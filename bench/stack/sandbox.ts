/** The sandbox as the bench's screening service, controlled by HTTP. */
import { z } from 'zod';
import type { spawnProcess } from '../../test/support/processes/spawn-process.ts';
import { requestJson } from './request-json.ts';

export type BenchSandbox = Awaited<ReturnType<typeof startSandbox>>;

const requests = z.array(z.object({ fault: z.string().nullable() }));

/** Starts the sandbox in a process of its own. */
export async function startSandbox(startProcess: typeof spawnProcess) {
  const process = await startProcess('bench/stack/sandbox-main.ts', { readyWhen: /sandbox at \S+\n/ });
  const url = /sandbox at (\S+)/.exec(process.output())?.[1] ?? '';
  const control = `${url}/_sandbox`;
  const faults = new Set<object>();
  const plan = () => requestJson('POST', `${control}/faults`, { faults: [...faults] });
  // A new plan resets the counts of all faults, so each fault is removed as soon as it has occurred.
  const addFault = async (fault: object) => {
    faults.add(fault);
    await plan();
    return async () => {
      faults.delete(fault);
      await plan();
    };
  };
  let delay: object = {};
  return {
    baseUrl: `${url}/test`,
    portalBaseUrl: `${url}/portal/api/v1/transaction-update`,
    /** Sets how long each create takes. */
    setServiceTime: async (delayMs: number) => {
      faults.delete(delay);
      delay = { operation: 'create-transaction', kind: 'delay', delayMs };
      if (delayMs > 0) faults.add(delay);
      await plan();
    },
    /** Commits the order's first create and never answers it. @returns the end of the fault */
    swallowCreate: (invoice: string) =>
      addFault({ operation: 'create-transaction', kind: 'hang-after-commit', times: 1, match: { invoice } }),
    /** Answers the order's next poll with 429. @returns the end of the fault */
    putOffPoll: (invoice: string, retryAfter: number) =>
      addFault({ operation: 'status-by-url', kind: '429', times: 1, retryAfter, match: { invoice } }),
    /** Decides as an analyst. */
    decide: async (orderId: string, decision: string) => {
      await requestJson('POST', `${control}/transactions/${orderId}/decision`, { decision });
    },
    /** Lists an operation's requests for an order, each with the fault it met. */
    requests: async (orderId: string, operation: string) => {
      const ledger = `${control}/ledger?invoice=${orderId}&operation=${operation}`;
      return requests.parse(await requestJson('GET', ledger));
    },
  };
}
