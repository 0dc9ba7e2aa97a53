import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createCardStash } from '../../src/cards/index.ts';
import { aPreGatewayTransaction } from '../fixtures/transactions.ts';
import {
  type Attempt,
  aCatchUp,
  aCheckout,
  aWorld,
  checkOut,
  outcomeOf,
  requests,
  sandbox,
  TASK_LOST,
  type TestWorld,
  withSandbox,
} from './support.ts';

withSandbox();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const DOWN = { kind: 'unanswered', reason: 'service-down' };

async function checkout(
  world: TestWorld,
  changes: Parameters<typeof aCheckout>[1] = {},
  attempt: Attempt = {},
) {
  return (await checkOut(world, aCheckout('pass', changes), attempt)).outcome;
}

/** Five checkouts meet a service that is down. */
async function outage(): Promise<TestWorld> {
  sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: '5xx-before-commit' }] });
  const world = aWorld();
  for (let order = 0; order < 5; order += 1) {
    expect(await checkout(world)).toMatchObject({ kind: 'unanswered', reason: 'http-5xx' });
  }
  return world;
}

it('answers new checkouts at once after five failures in a row, without a request', async () => {
  const world = await outage();
  expect(await checkout(world)).toEqual(DOWN);
  expect(await checkout(world, {}, TASK_LOST)).toEqual({ ...DOWN, unseenSince: expect.any(String) });
  expect(requests('create-transaction')).toBe(5);
});

it('lets one through after a while, answers the others meanwhile, and goes back to normal', async () => {
  const world = await outage();
  sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: 'delay', delayMs: 100 }] });
  vi.setSystemTime(Date.now() + 5_001);
  const [first, second] = await Promise.all([checkout(world), checkout(world)]);
  expect(first).toMatchObject({ kind: 'answered' });
  expect(second).toEqual(DOWN);
  expect(await checkout(world)).toMatchObject({ kind: 'answered' });
});

it('stays shut for another while when the one that was let through fails', async () => {
  const world = await outage();
  vi.setSystemTime(Date.now() + 5_001);
  expect(await checkout(world)).toMatchObject({ reason: 'http-5xx' });
  expect(await checkout(world)).toEqual(DOWN);
});

it('counts failures in a row only', async () => {
  const world = aWorld();
  for (let order = 0; order < 12; order += 1) {
    const faults = [{ operation: 'create-transaction', kind: '5xx-before-commit' } as const];
    sandbox.control.setFaults({ faults: order % 4 === 3 ? [] : faults });
    expect(await checkout(world)).not.toMatchObject({ reason: 'service-down' });
  }
});

it('does not blame the service for a wrong key', async () => {
  const world = aWorld();
  sandbox.control.setKeys({ test: 'another' });
  for (let order = 0; order < 6; order += 1) {
    expect(await checkout(world, {}, TASK_LOST)).toMatchObject({ reason: 'forbidden' });
  }
});

it('does not blame the service for a card stash that does not answer', async () => {
  const get = async () => {
    throw new Error('down');
  };
  const world = aWorld({}, { cards: { ...createCardStash('memory:'), get } });
  const transaction = { ...aPreGatewayTransaction({ payment: { creditCard: { last4: '1111' } } }) };
  for (let order = 0; order < 6; order += 1) {
    const request = { workflow: 'pre-gateway', transaction, cardRef: 'card_1' } as const;
    expect(await checkout(world, request)).toMatchObject({ reason: 'card-stash' });
  }
});

it('spares the checkouts of one integration, not the catching up after them', async () => {
  const world = await outage();
  expect(await checkout(world)).toEqual(DOWN);
  sandbox.control.clearFaults();
  expect(await outcomeOf(world.background.catchUp, aCatchUp())).toMatchObject({ kind: 'answered' });
});
