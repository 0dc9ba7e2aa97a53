import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TASK_QUEUE } from '../../src/contract/ids.ts';
import type { portalAction } from '../../src/workflows/index.ts';
import { eventually } from '../support/index.ts';
import { again, DAY, MINUTE, type World, withOrders } from './support.ts';

const { order, environment } = withOrders();
const cancelBy = '2100-01-01T00:00:00.000Z';

async function start(input: Record<string, unknown>, set: (world: World) => void = () => undefined) {
  const { integration, world } = order.prepare(set);
  const handle = await environment().client.workflow.start<
    (input: unknown) => ReturnType<typeof portalAction>
  >('portalAction', {
    taskQueue: TASK_QUEUE,
    workflowId: `portal:${randomUUID()}`,
    args: [{ integration, ...input }],
  });
  return { handle, world };
}

async function failure(
  input: Record<string, unknown>,
  set?: (world: World) => void,
): Promise<string | undefined> {
  const { handle } = await start(input, set);
  return handle.result().then(
    () => undefined,
    (error) => error.cause?.type,
  );
}

describe('a portal action by itself', () => {
  it('is sent once, and answers as the service did', async () => {
    const { handle, world } = await start({
      orderId: 'o-1',
      transactionId: 't-1',
      fields: { kind: 'report-fraud' },
    });
    expect(await handle.result()).toMatchObject({
      kind: 'report-fraud',
      status: 'done',
      orderId: 'o-1',
      transactionId: 't-1',
      code: '200',
      at: expect.any(String),
    });
    expect(world.portalCalls).toHaveLength(1);
  });

  it('has on record who asked, and tells the service nothing of it', async () => {
    // No hexadecimal digits alone: ids are random.
    const by = { key: 'ops', actor: 'olga' };
    const { handle, world } = await start({ transactionId: 't-1', fields: { kind: 'report-fraud' }, by });
    expect(await handle.result()).toMatchObject({ status: 'done' });
    expect(JSON.stringify(world.portalCalls)).not.toContain('olga');
    const twoLines = { actor: 'olga\nbo' };
    const unreadable = { transactionId: 't-1', fields: { kind: 'report-fraud' }, by: twoLines };
    expect(await failure(unreadable)).toBe('invalid-request');
  });

  it('cancels while the recorded window is open, and says until when it may be sent', async () => {
    const { handle, world } = await start({
      transactionId: 't-1',
      fields: { kind: 'cancel' },
      cancelBy,
      cancelWindowMs: 5 * DAY,
    });
    expect(await handle.result()).toMatchObject({ kind: 'cancel', status: 'done' });
    expect(world.portalCalls).toMatchObject([{ notAfter: '2099-12-31T23:59:30.000Z' }]);
  });

  it('is tried on while the key is wrong', async () => {
    const calls: boolean[] = [];
    const { handle } = await start({ transactionId: 't-1', fields: { kind: 'report-fraud' } }, (world) => {
      world.portal = async ({ forbiddenKnown }) => {
        calls.push(forbiddenKnown);
        if (!forbiddenKnown) return { kind: 'forbidden' };
        if (calls.length < 4) throw again(MINUTE);
        return { kind: 'done', code: '200' };
      };
    });
    expect(await handle.result()).toMatchObject({ status: 'done' });
    expect(calls).toEqual([false, true, true, true]);
  });

  it('may have been done also after a wrong key', async () => {
    const calls: unknown[] = [];
    const { handle } = await start({ transactionId: 't-1', fields: { kind: 'report-fraud' } }, (world) => {
      world.portal = async ({ forbiddenKnown, maybeDone }) => {
        calls.push([forbiddenKnown, maybeDone]);
        return forbiddenKnown ? { kind: 'done', code: '200' } : { kind: 'forbidden', maybeDone: true };
      };
    });
    await handle.result();
    expect(calls).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it.each([
    ['refused', 'refused-by-screening-service'],
    ['unconfirmed', 'outcome-unknown'],
    ['too-late', 'cancel-window-closed'],
  ] as const)('that ends %s fails as %s', async (kind, code) => {
    const input = { transactionId: 't-1', fields: { kind: 'cancel' }, cancelBy, cancelWindowMs: 5 * DAY };
    expect(
      await failure(input, (world) => {
        world.portal = async () => ({ kind });
      }),
    ).toBe(code);
  });

  it.each<[string, Record<string, unknown>, string]>([
    [
      'a cancel without a window',
      { transactionId: 't-1', fields: { kind: 'cancel' } },
      'cancel-window-unknown',
    ],
    ['no fields', { transactionId: 't-1' }, 'invalid-request'],
  ])('with %s fails at once', async (_case, input, code) => {
    expect(await failure(input)).toBe(code);
  });

  it('that nobody answers ends after a day; whether it was done is unknown', async () => {
    const unanswered = { transactionId: 't-1', fields: { kind: 'report-fraud' } };
    expect(
      await failure(unanswered, (world) => {
        world.portal = async () => {
          throw again(MINUTE);
        };
      }),
    ).toBe('outcome-unknown');
  });

  it('that somebody has canceled in Temporal says that its outcome is unknown', async () => {
    const { handle, world } = await start(
      { transactionId: 't-1', fields: { kind: 'cancel' }, cancelBy, cancelWindowMs: 5 * DAY },
      (world) => {
        world.portal = async () => {
          throw again(MINUTE);
        };
      },
    );
    await eventually(() => expect(world.portalCalls).not.toHaveLength(0));
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'outcome-unknown' } });
  });
});
