/** The screening service of a bench, steered by its control plane. */
import { z } from 'zod';
import { type SpawnedProcess, spawnProcess } from '../../test/support/spawn-process.ts';
import { requestJson } from './request-json.ts';

export interface BenchSandbox {
  process: SpawnedProcess;
  baseUrl: string;
  portalBaseUrl: string;
  /** How long the service takes for each create, in milliseconds. */
  setServiceTime: (ms: number) => Promise<void>;
  /** The order's first create is committed, and never answered. @returns what ends that */
  swallowCreate: (orderId: string) => Promise<EndFault>;
  /** The order's next poll is answered with 429. @returns what ends that */
  putOffPoll: (orderId: string, seconds: number) => Promise<EndFault>;
  /** An analyst decides. */
  decide: (orderId: string, decision: string) => Promise<void>;
  /** The requests of an operation that came for an order, each with the fault that was played. */
  requests: (orderId: string, operation: string) => Promise<{ fault: string | null }[]>;
}

const requests = z.array(z.object({ fault: z.string().nullable() }));

export type EndFault = () => Promise<void>;

export async function startSandbox(): Promise<BenchSandbox> {
  const process = await spawnProcess('bench/stack/sandbox-main.ts', { readyWhen: /sandbox at \S+\n/ });
  const url = /sandbox at (\S+)/.exec(process.output())?.[1] ?? '';
  const control = `${url}/_sandbox`;
  const faults = new Set<object>();
  const plan = () => requestJson('POST', `${control}/faults`, { faults: [...faults] });
  // A new plan begins its counts anew, so each fault is taken out as soon as it was played.
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
    process,
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
