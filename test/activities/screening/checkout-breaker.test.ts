import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createCardStash } from '../../../src/card-stash/index.ts';
import { MACHINE, type Machine } from '../../../src/screening-service/index.ts';
import { aPreGatewayTransaction } from '../../fixtures/transactions.ts';
import {
  type Attempt,
  aCatchUp,
  aCheckout,
  aWorld,
  checkOut,
  fromNow,
  outcomeOf,
  plan,
  queued,
  requests,
  sandbox,
  TASK_LOST,
  type TestWorld,
  withSandbox,
} from '../support.ts';

withSandbox();

const DOWN = { kind: 'unanswered', reason: 'service-down' };

/** By how much the monotonic clock is ahead, in milliseconds. */
let aheadMs = 0;
/** Calls throw. */
let isBroken = false;
const machine: Machine = {
  ...MACHINE,
  elapsed: () => MACHINE.elapsed() + aheadMs,
  after(ms, call) {
    if (isBroken) throw new TypeError('broken');
    return MACHINE.after(ms, call);
  },
};
beforeEach(() => {
  aheadMs = 0;
  isBroken = false;
});

/** Lets so much time pass that an open breaker lets a checkout through. */
const wait = () => {
  aheadMs += 5_001;
};

async function checkout(
  world: TestWorld,
  changes: Parameters<typeof aCheckout>[1] = {},
  attempt: Attempt = {},
) {
  return (await checkOut(world, aCheckout('pass', changes), attempt)).outcome;
}

/** Five checkouts meet a service that is down. */
async function outage(): Promise<TestWorld> {
  plan('create-transaction', '5xx-before-commit');
  const world = aWorld({}, { machine });
  for (let order = 0; order < 5; order += 1) {
    expect(await checkout(world)).toMatchObject({ kind: 'unanswered', reason: 'http-5xx' });
  }
  return world;
}

it('answers new checkouts at once after five failures in a row, without a request; catch-ups go on', async () => {
  const world = await outage();
  expect(await checkout(world)).toEqual(DOWN);
  expect(await checkout(world, {}, TASK_LOST)).toEqual({ ...DOWN, unseenSince: expect.any(String) });
  expect(requests('create-transaction')).toBe(5);
  sandbox.control.clearFaults();
  expect(await outcomeOf(world.background.catchUp, aCatchUp())).toMatchObject({ kind: 'answered' });
});

it('lets one through after a while, answers the others meanwhile, and goes back to normal', async () => {
  const world = await outage();
  plan('create-transaction', 'delay', { delayMs: 100 });
  wait();
  const [first, second] = await Promise.all([checkout(world), checkout(world)]);
  expect(first).toMatchObject({ kind: 'answered' });
  expect(second).toEqual(DOWN);
  expect(await checkout(world)).toMatchObject({ kind: 'answered' });
});

it("a clock that is set back doesn't keep it open", async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const world = await outage();
  sandbox.control.clearFaults();
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(await checkout(world)).toEqual(DOWN);
  wait();
  expect(await checkout(world)).toMatchObject({ kind: 'answered' });
});

it('stays open after a test call that throws', async () => {
  const world = await outage();
  sandbox.control.clearFaults();
  wait();
  isBroken = true;
  expect(await checkout(world)).toMatchObject({ reason: 'unexpected' });
  isBroken = false;
  expect(await checkout(world)).toEqual(DOWN);
});

/** On a busy machine the little time may be over before anything is sent. */
const UNANSWERED = { reason: expect.stringMatching(/^(?:timeout|no-time-left)$/) };

it('does not blame the service for a checkout that began too late to be answered', async () => {
  plan('create-transaction', 'delay', { delayMs: 1_500 });
  const world = aWorld({ checkoutBudgetMs: 3_000 });
  const late = () => ({ ...queued(2_900), answerBy: fromNow(2_000) });
  for (let order = 0; order < 6; order += 1) {
    expect(await checkout(world, late())).toMatchObject(UNANSWERED);
  }
  const hasty = aWorld({ checkoutBudgetMs: 400 });
  for (let order = 0; order < 5; order += 1) {
    expect(await checkout(hasty)).toMatchObject({ reason: 'timeout' });
  }
  expect(await checkout(hasty)).toEqual(DOWN);
});

/** A checkout whose caller waits for another 150 ms only. */
const hurried = () => ({ ...queued(0), answerBy: fromNow(150) });

it('counts no time-out of a hurried checkout: neither as a failure, nor as a success between failures', async () => {
  plan('create-transaction', 'hang-before-commit');
  const world = aWorld({ checkoutBudgetMs: 400 });
  for (const isHurried of [false, false, false, false, true, false]) {
    const answer = await checkout(world, isHurried ? hurried() : {});
    expect(answer).toMatchObject(isHurried ? UNANSWERED : { reason: 'timeout' });
  }
  expect(await checkout(world)).toEqual(DOWN);
});

it.each([
  ['hurried', {}, hurried],
  ['late', TASK_LOST, () => ({ ...queued(4_000), answerBy: fromNow(-1_000) })],
])('stays open after a test call that says nothing: a %s checkout', async (_what, attempt, changes) => {
  const world = await outage();
  plan('create-transaction', 'hang-before-commit');
  wait();
  expect(await checkout(world, changes(), attempt)).toMatchObject({ kind: 'unanswered' });
  expect(await checkout(world)).toEqual(DOWN);
  sandbox.control.clearFaults();
  wait();
  expect(await checkout(world)).toMatchObject({ kind: 'answered' });
});

it('does not blame the service for a wrong key, or for a card stash that does not answer', async () => {
  sandbox.control.setKeys({ test: 'another' });
  const get = () => Promise.reject(new Error('down'));
  const world = aWorld({}, { cards: { ...createCardStash('memory:'), get } });
  const transaction = { ...aPreGatewayTransaction({ payment: { creditCard: { last4: '1111' } } }) };
  const withCard = { workflow: 'pre-gateway', transaction, cardRef: 'card_1' } as const;
  for (let order = 0; order < 6; order += 1) {
    expect(await checkout(world, {}, TASK_LOST)).toMatchObject({ reason: 'forbidden' });
    expect(await checkout(world, withCard)).toMatchObject({ reason: 'card-stash' });
  }
});
