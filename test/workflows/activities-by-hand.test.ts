/** What a person makes of an order's activities in Temporal: completes them with something, or fails them. */

import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { updateOf } from '../../src/client/messages/send-update.ts';
import { cancelUpdate } from '../../src/contract/messages.ts';
import { aPolicy, decided, MINUTE, withOrders } from './support.ts';

const { order } = withOrders();
const NOW = '2026-03-01T10:00:00.000Z';
const PASSED = { kind: 'read', decision: 'pass' };
const LATER = '2999-01-01T00:00:00.000Z';

const failed = () => {
  throw ApplicationFailure.nonRetryable('Activity failed', '');
};

// All other results that are none: test/order/messages/check-results.test.ts.
it.each<[string, () => { result: unknown }]>([
  ['completed with a word', () => ({ result: 'pass' })],
  ['completed with nothing', () => ({ result: null })],
  ['completed at a time to come', () => ({ result: { outcome: PASSED, began: NOW, at: LATER } })],
  ['failed', failed],
])('a poll that is %s is made again after five minutes', async (_how, end) => {
  let byHand = true;
  const poll = { firstMs: MINUTE, factor: 1, maxMs: MINUTE };
  const { world, pass, until, state } = await order((one) => {
    decided('review', aPolicy({ poll }))(one);
    one.byHand = () => (byHand ? end() : undefined);
  });
  await pass(2 * MINUTE);
  byHand = false;
  await pass(2 * MINUTE);
  expect(world.polls).toBe(0);
  await pass(6 * MINUTE);
  expect(world.polls).toBeGreaterThan(0);
  expect(await state()).toMatchObject({ phase: 'review', attention: [] });
  world.status = { kind: 'read', decision: 'pass' };
  await pass(10 * MINUTE);
  await until(({ decision }) => decision === 'pass');
});

it.each<[string, () => { result: unknown }]>([
  ['completed', () => ({ result: 'delivered' })],
  ['failed', failed],
])('a delivery of events that is %s by hand loses no event', async (_how, end) => {
  let byHand = true;
  const { world, pass, attention } = await order((one) => {
    decided('review', aPolicy({ events: 'all' }))(one);
    one.byHand = (type) => (byHand && type === 'deliverEvents' ? end() : undefined);
  });
  await pass(MINUTE);
  expect(world.eventTypes()).toEqual([]);
  byHand = false;
  await pass(10 * MINUTE);
  expect(world.eventTypes()).toEqual(['order.decided']);
  expect(await attention()).toEqual([]);
});

it('a portal action that is completed by hand is not taken as done, and is sent again', async () => {
  let byHand = true;
  const { world, pass, until, state, handle } = await order((one) => {
    decided('review')(one);
    one.byHand = (type) =>
      byHand && type === 'performPortalAction' ? { result: { code: '200' } } : undefined;
  });
  await handle.startUpdate(cancelUpdate, { ...updateOf(cancelUpdate, {}), waitForStage: 'ACCEPTED' });
  await until(({ actions }) => actions[0]?.maybeSent === true);
  byHand = false;
  await pass(6 * MINUTE);
  expect(await state()).toMatchObject({ phase: 'canceled', actions: [{ status: 'done' }] });
  expect(world.portalCalls).toMatchObject([{ maybeDone: true }]);
});
