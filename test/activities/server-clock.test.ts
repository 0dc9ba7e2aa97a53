import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import { MACHINE, type Machine } from '../../src/screening-service/index.ts';
import { HOUR } from '../fixtures/orders.ts';
import { act, aPortalRequest } from './portal-support.ts';
import {
  type Attempt,
  aCatchUp,
  aCheckout,
  aWorld,
  checkOut,
  failureOf,
  fromNow,
  outcomeOf,
  perform,
  requests,
  screened,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

/** A cancel that may be sent until so many milliseconds from now. */
const cancel = (leftMs: number, transactionId = UNKNOWN_ID) =>
  aPortalRequest('cancel', { transactionId, notAfter: fromNow(leftMs) });
/** The second try, after the first asked the server for its time, so late by the worker's clock. */
const asked = (late: number) => ({ attempt: 2, heartbeatDetails: { asked: 1, late } });

/** A worker that has just begun a try at once. */
async function aPromptWorld() {
  const world = aWorld();
  await perform(world.background.forgetCard, { cardRef: 'card_1', attempt: 1 });
  return world;
}

/** When the create of a screening was sent at the earliest, in milliseconds. */
function sentFrom(outcome: ScreeningOutcome): number {
  if (outcome.kind !== 'answered') throw new Error(outcome.kind);
  return Date.parse(outcome.sentFrom);
}

/** The activities of a worker whose clock is ahead of the server's, or behind it. */
function aWorldAhead(ms: number) {
  return aWorld({}, { machine: { ...MACHINE, now: () => Date.now() + ms } });
}

/** A worker for which time passes when a test says so, too. */
function aWorldOfTime() {
  let passed = 0;
  const now = () => MACHINE.now() + passed;
  const world = aWorld({}, { machine: { ...MACHINE, now, elapsed: () => MACHINE.elapsed() + passed } });
  const pass = (ms: number) => {
    passed = ms;
  };
  return { world, now, pass };
}

describe.each([HOUR, -HOUR])('a worker whose clock is %i ms ahead', (aheadMs) => {
  it('asks the server for its time, and sends a cancel until its last call', async () => {
    const world = aWorldAhead(aheadMs);
    const request = cancel(60_000, await screened(world));
    const heartbeats: unknown[] = [];
    const failure = await failureOf(act(request, {}, heartbeats, world));
    expect(failure).toMatchObject({ type: 'server-time', nextRetryDelay: 1 });
    expect(requests('cancel-transaction')).toBe(0);
    const again = { attempt: 2, heartbeatDetails: heartbeats.at(-1) };
    expect(await act(request, again, [], world)).toMatchObject({ kind: 'done' });
  });

  it('sends no cancel after its last call', async () => {
    const outcome = await act(cancel(-1_000), asked(aheadMs), [], aWorldAhead(aheadMs));
    expect(outcome).toEqual({ kind: 'too-late' });
    expect(requests('cancel-transaction')).toBe(0);
  });

  it('asks only once: then it knows how far its clock is off', async () => {
    const { catchUp } = aWorldAhead(aheadMs).background;
    await perform(catchUp, aCatchUp(), asked(aheadMs));
    expect(await outcomeOf(catchUp, aCatchUp())).toMatchObject({ kind: 'answered' });
  });
});

describe('a worker whose tries wait', () => {
  const waited = (ms: number) => ({ scheduledMs: Date.now() - ms });
  const isTooLate = (world: ReturnType<typeof aWorld>, at: Attempt) => act(cancel(-1_000), at, [], world);

  it('sends no cancel that waited until after its last call', async () => {
    expect(await act(cancel(-500), waited(1_500))).toEqual({ kind: 'too-late' });
    expect(requests('cancel-transaction')).toBe(0);
  });

  it('sends a cancel at once, however long it waited, if its clock was right a moment ago', async () => {
    const world = await aPromptWorld();
    const request = cancel(60_000, await screened(world));
    expect(await act(request, waited(30_000), [], world)).toMatchObject({ kind: 'done' });
  });

  it('asks once if it would be too late by its clock, which may have been set meanwhile; then it sends nothing, however long that waits', async () => {
    const world = await aPromptWorld();
    expect(await failureOf(isTooLate(world, waited(30_000)))).toMatchObject({ type: 'server-time' });
    expect(await isTooLate(world, { ...asked(30_000), ...waited(60_000) })).toEqual({ kind: 'too-late' });
    expect(requests('cancel-transaction')).toBe(0);
  });

  it('does not take the wait for the error of its clock once a try did not wait', async () => {
    const world = aWorld();
    await perform(world.background.catchUp, aCatchUp(), { ...asked(10_000), ...waited(10_000) });
    await perform(world.background.forgetCard, { cardRef: 'card_1', attempt: 1 });
    expect(await failureOf(isTooLate(world, waited(4_000)))).toMatchObject({ type: 'server-time' });
    expect(await isTooLate(world, { ...asked(4_000), ...waited(4_000) })).toEqual({ kind: 'too-late' });
    expect(requests('cancel-transaction')).toBe(0);
  });
});

it('a worker whose clock is less than 2 s behind does not take a retry for one that the server handed out early', async () => {
  const pauses: number[] = [];
  const after: Machine['after'] = (ms, call) => {
    pauses.push(ms);
    return MACHINE.after(ms, call);
  };
  const world = aWorld({}, { machine: { ...MACHINE, after, now: () => Date.now() - 1_500 } });
  await perform(world.background.forgetCard, { cardRef: 'card_1', attempt: 1 }, { scheduledMs: Date.now() });
  const request = cancel(60_000, await screened(world));
  const retry = { attempt: 2, heartbeatDetails: { reported: 1 }, scheduledMs: Date.now() };
  expect(await act(request, retry, [], world)).toMatchObject({ kind: 'done' });
  expect(pauses.filter((ms) => ms > 500 && ms < 2_000)).toEqual([]);
});

it('a worker that is so busy that each try waits, each for another time, sends a cancel in time all the same', async () => {
  const { world, now, pass } = aWorldOfTime();
  const first = act(cancel(60_000), { scheduledMs: now() - 15_000 }, [], world);
  expect(await failureOf(first)).toMatchObject({ type: 'server-time' });
  const scheduledMs = now();
  pass(9_000);
  await act(cancel(60_000), { ...asked(15_000), scheduledMs }, [], world);
  expect(requests('cancel-transaction')).toBe(1);
});

it('a screening that waits again after it asked for the time asks once more, so that its window counts from its create', async () => {
  const { world, now, pass } = aWorldOfTime();
  const { catchUp } = world.background;
  const first = perform(catchUp, aCatchUp(), { scheduledMs: now() - 15_000 });
  expect(await failureOf(first)).toMatchObject({ type: 'server-time' });
  const heartbeats: unknown[] = [];
  const scheduledMs = now();
  pass(4_000);
  const second = perform(catchUp, aCatchUp(), { ...asked(15_000), scheduledMs }, heartbeats);
  expect(await failureOf(second)).toMatchObject({ type: 'server-time' });
  const before = now();
  const third = { attempt: 3, heartbeatDetails: heartbeats.at(-1), scheduledMs: before };
  const outcome = await outcomeOf(catchUp, aCatchUp(), third);
  expect(sentFrom(outcome)).toBeGreaterThanOrEqual(before);
});

it('a server that schedules a try that was asked for seconds late does not make the worker’s clock look behind', async () => {
  const { world, now, pass } = aWorldOfTime();
  const { catchUp } = world.background;
  const first = perform(catchUp, aCatchUp(), { scheduledMs: now() - 15_000 });
  expect(await failureOf(first)).toMatchObject({ type: 'server-time' });
  pass(6_000);
  await perform(catchUp, aCatchUp(), { ...asked(15_000), scheduledMs: now() }).catch(() => undefined);
  const outcome = await outcomeOf(catchUp, aCatchUp(), { scheduledMs: now() });
  expect(sentFrom(outcome)).toBeLessThanOrEqual(now());
});

it('a worker whose tries waited longer once and shorter later still takes no more than 2 s off a window', async () => {
  const { world, now, pass } = aWorldOfTime();
  const { catchUp, forgetCard } = world.background;
  const waited = (ms: number) => ({ scheduledMs: now() - ms });
  await perform(catchUp, aCatchUp(), { ...asked(2_500), ...waited(2_500) });
  await perform(forgetCard, { cardRef: 'card_1', attempt: 1 }, waited(600));
  pass(HOUR);
  expect(await failureOf(perform(catchUp, aCatchUp(), waited(2_500)))).toMatchObject({ type: 'server-time' });
});

it.each([HOUR, -HOUR])('nor does it send one late by a clock that is %i ms ahead', async (aheadMs) => {
  const world = aWorldAhead(aheadMs);
  const late = (waitedMs: number) => ({ scheduledMs: Date.now() - waitedMs });
  await failureOf(act(cancel(-500), late(15_000), [], world));
  const third = { ...asked(aheadMs + 15_000), ...late(5) };
  expect(await act(cancel(-500), third, [], world)).toEqual({ kind: 'too-late' });
  expect(requests('cancel-transaction')).toBe(0);
});

it('a checkout whose task waited in a busy worker counts its window from when it began', async () => {
  const world = await aPromptWorld();
  const before = Date.now();
  const { outcome } = await checkOut(world, aCheckout('pass', { begun: fromNow(-3_000) }));
  expect(sentFrom(outcome)).toBeGreaterThan(before - 2_000);
});

it('a checkout after idle hours does not count from what the clock showed before them', async () => {
  let idleMs = 0;
  const stepMs = () => (idleMs > 0 ? 3_000 : 0);
  const machine = {
    ...MACHINE,
    now: () => Date.now() + stepMs(),
    elapsed: () => MACHINE.elapsed() + idleMs,
  };
  const world = aWorld({}, { machine });
  await perform(world.background.forgetCard, { cardRef: 'card_1', attempt: 1 });
  idleMs = 2 * HOUR;
  const { outcome } = await checkOut(world, aCheckout('pass', { begun: fromNow(0) }));
  expect(sentFrom(outcome)).toBeLessThan(machine.now() - 2_000);
});

describe.each([HOUR, -HOUR])('a worker whose clock is set by %i ms meanwhile', (setMs) => {
  async function aWorldSet() {
    let set = 0;
    const world = aWorld({}, { machine: { ...MACHINE, now: () => MACHINE.now() + set } });
    await perform(world.background.forgetCard, { cardRef: 'card_1', attempt: 1 });
    set = setMs;
    return world;
  }

  it('counts the cancel window of a later screening from its create', async () => {
    const { catchUp } = (await aWorldSet()).background;
    const before = Date.now();
    const outcome = await outcomeOf(catchUp, aCatchUp());
    expect(sentFrom(outcome)).toBeGreaterThan(before - 2_000);
    expect(sentFrom(outcome)).toBeLessThanOrEqual(Date.now());
  });

  it('sends a cancel before its last call, and none after it', async () => {
    const world = await aWorldSet();
    const request = cancel(60_000, await screened(world));
    expect(await act(request, { scheduledMs: Date.now() }, [], world)).toMatchObject({ kind: 'done' });
    const late = await act(cancel(-1_000), { scheduledMs: Date.now() }, [], world);
    expect(late).toEqual({ kind: 'too-late' });
    expect(requests('cancel-transaction')).toBe(1);
  });
});

it('a checkout whose task waited for too long sends nothing: the server may have begun it again', async () => {
  const { outcome } = await checkOut(await aPromptWorld(), aCheckout('pass', { begun: fromNow(-9_500) }));
  expect(outcome).toMatchObject({ kind: 'unanswered', reason: 'stalled' });
  expect(requests('create-transaction')).toBe(0);
});

it('a try that waited for a worker asks for the time, so that a cancel window counts from its own create', async () => {
  const { catchUp } = aWorld().background;
  const waited = { scheduledMs: Date.now() - 2 * HOUR };
  expect(await failureOf(perform(catchUp, aCatchUp(), waited))).toMatchObject({ type: 'server-time' });
  const before = Date.now();
  const outcome = await outcomeOf(catchUp, aCatchUp(), { attempt: 2, heartbeatDetails: { asked: 1 } });
  expect(outcome).toMatchObject({ found: false });
  expect(sentFrom(outcome)).toBeGreaterThanOrEqual(before);
});

it('two tries in two processes that only asked for the time count as no tries: a cancel after its last call was not sent', async () => {
  const heartbeats: unknown[] = [];
  const waiting = { ...asked(300), scheduledMs: Date.now() - 52_000 };
  expect(await failureOf(act(cancel(-1_000), waiting, heartbeats))).toMatchObject({ type: 'server-time' });
  const third = { attempt: 3, heartbeatDetails: heartbeats.at(-1), scheduledMs: Date.now() };
  expect(await act(cancel(-1_000), third)).toEqual({ kind: 'too-late' });
  expect(requests('cancel-transaction')).toBe(0);
});

it('a try that only asked for the time counts as no try: a chargeback after it is sent', async () => {
  const request = aPortalRequest('chargeback', { transactionId: await screened(aWorld()) });
  expect(await act(request, asked(3_000))).toMatchObject({ kind: 'done' });
});
