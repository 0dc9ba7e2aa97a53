import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createOrderDirectory } from '../../src/activities/index.ts';
import { PayloadCodecError } from '../../src/codec/index.ts';

/** A client whose newest completed sweep ends as given. */
function aClient(result: () => Promise<unknown>): Client {
  const workflow = {
    list: async function* () {
      yield { workflowId: 'sweep', runId: 'run' };
    },
    getHandle: () => ({ result }),
  };
  return { options: { namespace: 'default' }, workflow } as unknown as Client;
}

describe('the directory of orders', () => {
  it('knows no last sweep whose payload key is gone, so that the next one begins anew', async () => {
    const unreadable = aClient(async () => {
      throw new PayloadCodecError('unknown-payload-key', 'gone');
    });
    expect(await createOrderDirectory(unreadable).lastSweep()).toBeUndefined();
  });

  it('does not take a server that cannot be asked for no last sweep', async () => {
    const unreachable = aClient(async () => {
      throw new Error('unavailable');
    });
    await expect(createOrderDirectory(unreachable).lastSweep()).rejects.toThrow('unavailable');
  });
});
