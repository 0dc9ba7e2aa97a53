/** The sandbox as the bench's screening service, controlled by HTTP. */
import { z } from 'zod';
import { requestJson } from './request-json.ts';
import type { Stack } from './stack.ts';

export interface BenchSandbox {
  baseUrl: string;
  portalBaseUrl: string;
  /** Sets how long each create takes, in milliseconds. */
  setServiceTime: (ms: number) => Promise<void>;
  /** Commits the order's first create and never answers it. @returns the end of the fault */
  swallowCreate: (orderId: string) => Promise<EndFault>;
  /** Answers the order's next poll with 429. @returns the end of the fault */
  putOffPoll: (orderId: string, seconds: number) => Promise<EndFault>;
  /** Decides as an analyst. */
  decide: (orderId: string, decision: string) => Promise<void>;
  /** Lists an operation's requests for an order, each with the fault it met. */
  requests: (orderId: string, operation: string) => Promise<{ fault: string | null }[]>;
}

const requests = z.array(z.object({ fault: z.string().nullable() }));

type EndFault = () => Promise<void>;

/** Starts the sandbox in a process of its own. */
export async function startSandbox(startProcess: Stack['startProcess']): Promise<BenchSandbox> {
  const process = await startProcess('bench/stack/sandbox-main.ts', { readyWhen: /sandbox at \S+\n/ });
  const url = /sandbox at (\S+)/.exec(process.output())?.[1] ?? '';
  const control = `${url}/_sandbox`;
  const faults = new Set<object>();
  const plan = () => requestJson('POST', `${control}/faults`, { faults: [...faults] });
  // A new plan resets the counts of all faults, so each fault is removed as soon as it has occurred.
  const addFault = async (fault: object): Promise<EndFault> => {
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
    setServiceTime: async (delayMs) => {
      faults.delete(delay);
      delay = { operation: 'create-transaction', kind: 'delay', delayMs };
      if (delayMs > 0) faults.add(delay);
      await plan();
    },
    swallowCreate: (invoice) =>
      addFault({ operation: 'create-transaction', kind: 'hang-after-commit', times: 1, match: { invoice } }),
    putOffPoll: (invoice, retryAfter) =>
      addFault({ operation: 'status-by-url', kind: '429', times: 1, retryAfter, match: { invoice } }),
    decide: async (orderId, decision) => {
      await requestJson('POST', `${control}/transactions/${orderId}/decision`, { decision });
    },
    requests: async (orderId, operation) => {
      const ledger = `${control}/ledger?invoice=${orderId}&operation=${operation}`;
      return requests.parse(await requestJson('GET', ledger));
    },
  };
}
