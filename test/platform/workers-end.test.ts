import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { LostOrderError, ORDER_LOST, untilEndedOrLost } from '../../src/platform/workers-end.ts';

const never = new Promise<void>(() => undefined);
const { signal: notYet } = new AbortController();
const stops = { stop: vi.fn(), stopping: notYet, graceMs: 0 };

it('a process that has lost no order ends when all its workers have; one that breaks down stops the others', async () => {
  const waits = { lost: notYet, togetherMs: 0 };
  const stop = vi.fn();
  await untilEndedOrLost([Promise.resolve(), Promise.resolve()], { ...stops, stop }, waits);
  expect(stop).not.toHaveBeenCalled();
  const ended = vi.fn();
  const other = new Promise<void>((resolve) => stop.mockImplementation(resolve)).then(ended);
  const runs = [Promise.reject(new Error('no such namespace')), other];
  await expect(untilEndedOrLost(runs, { ...stops, stop }, waits)).rejects.toThrow('no such namespace');
  expect(ended).toHaveBeenCalled();
});

it('a process that has lost an order continues for a while, lets what runs finish, and ends', async () => {
  const controller = new AbortController();
  const at = { lost: 0, stopped: 0 };
  setTimeout(() => {
    at.lost = performance.now();
    controller.abort();
  }, 50);
  const stop = () => {
    at.stopped = performance.now();
  };
  const waits = { lost: controller.signal, togetherMs: 200 };
  const ended = untilEndedOrLost([never], { ...stops, stop, graceMs: 100 }, waits);
  await expect(ended).rejects.toThrow(LostOrderError);
  // Node rounds the time of its timers.
  expect(at.stopped - at.lost).toBeGreaterThan(195);
  expect(performance.now() - at.stopped).toBeGreaterThan(95);
});

it.each([
  ['when its workers end', [Promise.resolve()], { ...stops, graceMs: 3_600_000 }],
  ['when it is to end', [never], { ...stops, stopping: AbortSignal.abort() }],
])(
  'a process that lost an order before anybody waited ends so, and at once, also %s',
  async (_when, runs, how) => {
    const waits = { lost: AbortSignal.abort(), togetherMs: 3_600_000 };
    await expect(untilEndedOrLost(runs, how, waits)).rejects.toThrow(LostOrderError);
  },
);

it('the words by which the installed core says that it lost an order are known', async () => {
  const core = '@temporalio/core-bridge/sdk-core/crates/sdk-core/src/worker/workflow/workflow_stream.rs';
  const source = await readFile(join('node_modules', core), 'utf8');
  // Where they are gone, the fault may be, too: then all of `untilEndedOrLost` goes.
  expect(source).toContain(`dbg_panic!("${ORDER_LOST}")`);
});
