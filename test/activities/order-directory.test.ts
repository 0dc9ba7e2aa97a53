import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createOrderDirectory } from '../../src/activities/index.ts';
import { PayloadCodecError } from '../../src/codec/index.ts';

type Sweep = { status: string; result?: () => Promise<unknown> };

/** A client whose schedule began these sweeps, the newest last; its list of workflows shows none of them yet. */
function aClient(sweeps: Sweep[]): Client {
  const recentActions = sweeps.map((_, index) => ({
    action: { type: 'startWorkflow', workflow: { workflowId: `${index}`, firstExecutionRunId: 'run' } },
  }));
  return {
    options: { namespace: 'default' },
    schedule: { getHandle: () => ({ describe: async () => ({ info: { recentActions } }) }) },
    workflow: {
      list: async function* () {},
      getHandle: (workflowId: string) => ({
        describe: async () => ({ status: { name: sweeps[Number(workflowId)]?.status } }),
        result: sweeps[Number(workflowId)]?.result,
      }),
    },
  } as unknown as Client;
}

const ended = (result: () => Promise<unknown>): Sweep => ({ status: 'COMPLETED', result });

describe('the directory of orders', () => {
  it('knows how the newest ended sweep ended, before the list of workflows shows it', async () => {
    const client = aClient([
      ended(async () => 'the first'),
      ended(async () => 'the second'),
      { status: 'TIMED_OUT' },
      { status: 'RUNNING' },
    ]);
    expect(await createOrderDirectory(client).lastSweep()).toBe('the second');
  });

  it('knows no last sweep when none has ended', async () => {
    expect(await createOrderDirectory(aClient([{ status: 'RUNNING' }])).lastSweep()).toBeUndefined();
  });

  it('knows no last sweep whose payload key is gone, so that the next one begins anew', async () => {
    const unreadable = aClient([
      ended(async () => {
        throw new PayloadCodecError('unknown-payload-key', 'gone');
      }),
    ]);
    expect(await createOrderDirectory(unreadable).lastSweep()).toBeUndefined();
  });

  it('does not take a server that cannot be asked for no last sweep', async () => {
    const unreachable = aClient([
      ended(async () => {
        throw new Error('unavailable');
      }),
    ]);
    await expect(createOrderDirectory(unreachable).lastSweep()).rejects.toThrow('unavailable');
  });
});
