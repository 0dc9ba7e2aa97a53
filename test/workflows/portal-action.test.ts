import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TASK_QUEUE } from '../../src/contract/ids.ts';
import type { portalAction } from '../../src/workflows/index.ts';
import { eventually } from '../support/index.ts';
import { again, DAY, MINUTE, type World, withOrders } from './support.ts';

const { order, environment, mattersCounted } = withOrders();
const cancelBy = '2100-01-01T00:00:00.000Z';
const REPORT = { transactionId: 't-1', fields: { kind: 'report-fraud' } };
const CANCEL = { transactionId: 't-1', fields: { kind: 'cancel' }, cancelBy, cancelWindowMs: 5 * DAY };
const REFUSED = 'refused-by-screening-service';
const unanswered = async () => {
  throw again(MINUTE);
};

async function start(input: Record<string, unknown>, portal?: World['portal']) {
  const { integration, world } = order.prepare();
  if (portal !== undefined) world.portal = portal;
  const handle = await environment().client.workflow.start<
    (input: unknown) => ReturnType<typeof portalAction>
  >('portalAction', {
    taskQueue: TASK_QUEUE,
    workflowId: `portal:${randomUUID()}`,
    args: [{ integration, ...input }],
  });
  return { handle, world, integration };
}

describe('a portal action by itself', () => {
  it('is sent once, without who asked, and answers as the service did', async () => {
    const by = { key: 'ops', actor: 'olga' };
    const { handle, world } = await start({ ...REPORT, orderId: 'o-1', by });
    expect(await handle.result()).toMatchObject({
      kind: 'report-fraud',
      status: 'done',
      orderId: 'o-1',
      transactionId: 't-1',
      code: '200',
      at: expect.any(String),
    });
    expect(world.portalCalls).toHaveLength(1);
    expect(JSON.stringify(world.portalCalls)).not.toContain('olga');
  });

  it('cancels while the recorded window is open, and says until when it may be sent', async () => {
    const { handle, world } = await start(CANCEL);
    expect(await handle.result()).toMatchObject({ kind: 'cancel', status: 'done' });
    expect(world.portalCalls).toMatchObject([{ notAfter: '2099-12-31T23:59:30.000Z' }]);
  });

  it('is tried on while the key is wrong, and knows that it may be done', async () => {
    const calls: unknown[] = [];
    const { handle } = await start(REPORT, async ({ maybeDone }, { forbiddenKnown }) => {
      calls.push([forbiddenKnown, maybeDone]);
      if (!forbiddenKnown) return { kind: 'forbidden', maybeDone: true };
      if (calls.length < 4) throw again(MINUTE);
      return { kind: 'done', code: '200' };
    });
    expect(await handle.result()).toMatchObject({ status: 'done' });
    const known = [true, true];
    expect(calls).toEqual([[false, false], known, known, known]);
  });

  it.each<[string, Record<string, unknown>, World['portal'] | undefined, string, string?]>([
    ['is refused', CANCEL, async () => ({ kind: 'refused' }), REFUSED, 'cancel-refused'],
    ['is refused and no cancel', REPORT, async () => ({ kind: 'refused' }), REFUSED, 'portal-refused'],
    [
      'is unconfirmed',
      CANCEL,
      async () => ({ kind: 'unconfirmed' }),
      'outcome-unknown',
      'portal-unconfirmed',
    ],
    ['is too late', CANCEL, async () => ({ kind: 'too-late' }), 'cancel-window-closed', 'cancel-too-late'],
    ['nobody answers for a day', REPORT, unanswered, 'outcome-unknown', 'portal-unconfirmed'],
    ['is left unsent', REPORT, async () => ({ kind: 'not-sent' }), 'action-not-sent', 'portal-not-sent'],
    ['has no window', { ...CANCEL, cancelBy: undefined }, undefined, 'cancel-window-unknown'],
    ['has no fields', { transactionId: 't-1' }, undefined, 'invalid-request'],
    ['names its actor in two lines', { ...REPORT, by: { actor: 'olga\nbo' } }, undefined, 'invalid-request'],
  ])(
    'that %s fails, and is counted as an open order counts it',
    async (_case, input, portal, type, matter) => {
      const { handle, integration } = await start(input, portal);
      await expect(handle.result()).rejects.toMatchObject({ cause: { type } });
      expect(await mattersCounted(integration)).toEqual(matter === undefined ? [] : [matter]);
    },
  );

  it('that somebody has canceled in Temporal says that its outcome is unknown', async () => {
    const { handle, world } = await start(CANCEL, unanswered);
    await eventually(() => expect(world.portalCalls).not.toHaveLength(0));
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'outcome-unknown' } });
  });
});
