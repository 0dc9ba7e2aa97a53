/** What a person makes of an order's activities in Temporal: completes them with something, or fails them. */
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { cancelUpdate } from '../../src/contract/messages.ts';
import { instant } from '../../src/contract/words.ts';
import { aPolicy, HOUR, MINUTE, withOrders } from './support.ts';
import { decided } from './world.ts';

const { order, environment } = withOrders();

/** Nothing of it is a poll's result. */
const ANYTHING: readonly (readonly [string, (now: string) => unknown])[] = [
  ['a word', () => 'pass'],
  ['nothing', () => null],
  ['a number', () => 7],
  ['a list', () => [{ outcome: { kind: 'read', decision: 'pass' } }]],
  ['an empty object', () => ({})],
  ['an outcome without its time', () => ({ outcome: { kind: 'read', decision: 'pass' } })],
  ['no decision', (now) => ({ outcome: { kind: 'read' }, began: now, at: now })],
  ['an unknown decision', (now) => ({ outcome: { kind: 'read', decision: 'fine' }, began: now, at: now })],
  ['the outcome of another activity', (now) => ({ outcome: { kind: 'sent' }, began: now, at: now })],
  ['an inherited kind', (now) => ({ outcome: { kind: 'toString' }, began: now, at: now })],
  [
    'insights that are none',
    (now) => ({ outcome: { kind: 'read', decision: 'pass', insights: { risk: null } }, began: now, at: now }),
  ],
  ['a time that is none', (now) => ({ outcome: { kind: 'read', decision: 'pass' }, began: now, at: 'now' })],
  [
    'a time to come',
    (now) => ({ outcome: { kind: 'read', decision: 'pass' }, began: now, at: '2999-01-01T00:00:00.000Z' }),
  ],
  ['no answer, which a poll waits for', (now) => ({ outcome: { kind: 'unanswered' }, began: now, at: now })],
  [
    'the kind of another call',
    (now) => ({ kind: 'first-screening', outcome: { kind: 'none' }, began: now, at: now }),
  ],
];

const failed = ApplicationFailure.nonRetryable('Activity failed', '');

describe('a poll', () => {
  it('that is completed with anything else than its result is made again after five minutes', async () => {
    let ended: { result: unknown } | undefined;
    const poll = { firstMs: MINUTE, factor: 1, maxMs: MINUTE };
    const { world, pass, until, state } = await order((one) => {
      decided('review', aPolicy({ poll }))(one);
      one.byHand = () => ended;
    });
    for (const [what, make] of ANYTHING) {
      ended = { result: make(instant(await environment().currentTimeMs())) };
      await pass(2 * MINUTE);
      ended = undefined;
      const { polls } = world;
      await pass(2 * MINUTE);
      expect(world.polls, what).toBe(polls);
      await pass(6 * MINUTE);
      expect(world.polls, what).toBeGreaterThan(polls);
      expect(await state(), what).toMatchObject({ phase: 'review', attention: [] });
    }
    world.status = { kind: 'read', decision: 'pass' };
    await pass(10 * MINUTE);
    await until(({ decision }) => decision === 'pass');
  });

  it('that is failed is made again as well', async () => {
    let fails = true;
    const { world, pass, until } = await order((one) => {
      decided('review')(one);
      one.byHand = () => {
        if (fails) throw failed;
        return undefined;
      };
    });
    fails = false;
    world.status = { kind: 'read', decision: 'pass' };
    await pass(HOUR);
    await until(({ decision }) => decision === 'pass');
  });
});

describe('a delivery of events', () => {
  it.each([
    ['completed', () => ({ result: 'delivered' })],
    [
      'failed',
      () => {
        throw failed;
      },
    ],
  ])('that is %s by hand loses no event', async (_how, end) => {
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
});

describe('a portal action', () => {
  it('that is completed with anything else than its result is not taken as done, and is sent again', async () => {
    let byHand = true;
    const { world, pass, until, state, handle } = await order((one) => {
      decided('review')(one);
      one.byHand = (type) =>
        byHand && type === 'performPortalAction' ? { result: { code: '200' } } : undefined;
    });
    await handle.startUpdate(cancelUpdate, { args: [{}], waitForStage: 'ACCEPTED' });
    await until(({ actions }) => actions[0]?.maybeSent === true);
    byHand = false;
    await pass(6 * MINUTE);
    expect(await state()).toMatchObject({ phase: 'canceled', actions: [{ status: 'done' }] });
    expect(world.portalCalls).toMatchObject([{ maybeDone: true }]);
  });
});
