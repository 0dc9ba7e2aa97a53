import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Kept } from '../../../src/server/dashboard/queue-store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A value that counts its reads. A read ends when `answer` is called. */
function counted() {
  const kept = new Kept<number>();
  let reads = 0;
  const waiting: (() => void)[] = [];
  const get = (key = '') =>
    kept.get(key, () => {
      reads += 1;
      const value = reads;
      return new Promise<number>((resolve) => waiting.push(() => resolve(value)));
    });
  const answer = async () => {
    for (const end of waiting.splice(0)) end();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { kept, get, answer, reads: () => reads };
}

async function readOnce() {
  const all = counted();
  const first = all.get();
  await all.answer();
  expect(await first).toBe(1);
  return all;
}

describe('a value that is kept', () => {
  it('is read once for callers that come together, and for 5 s', async () => {
    const { get, answer, reads } = counted();
    const both = Promise.all([get(), get()]);
    await answer();
    expect(await both).toEqual([1, 1]);
    vi.advanceTimersByTime(4_999);
    expect(await get()).toBe(1);
    expect(reads()).toBe(1);
  });

  it('is shown while it is read again, and the next caller gets the new one', async () => {
    const { get, answer, reads } = await readOnce();
    vi.advanceTimersByTime(5_000);
    expect([await get(), await get(), reads()]).toEqual([1, 1, 2]);
    await answer();
    expect(await get()).toBe(2);
  });

  it('is waited for when it is 30 s old', async () => {
    const { get, answer } = await readOnce();
    vi.advanceTimersByTime(30_000);
    const next = get();
    await answer();
    expect(await next).toBe(2);
  });

  it('is waited for once it was forgotten, also by a read that began before', async () => {
    const { kept, get, answer } = await readOnce();
    vi.advanceTimersByTime(5_000);
    expect(await get()).toBe(1);
    kept.forget();
    await answer();
    const next = get();
    await answer();
    expect(await next).toBe(3);
  });

  it('stays when it can’t be read again: the failure is told to whoever waits', async () => {
    const { kept } = await readOnce();
    const fails = () => kept.get('', () => Promise.reject(new Error('away')));
    vi.advanceTimersByTime(10_000);
    expect(await fails()).toBe(1);
    vi.advanceTimersByTime(20_000);
    await expect(fails()).rejects.toThrow('away');
    expect(kept.last('')).toBe(1);
  });

  it('is kept for the last ten keys', async () => {
    const { kept, get, answer } = counted();
    for (let key = 0; key < 11; key += 1) void get(`key-${key}`);
    await answer();
    expect([kept.last('key-0'), kept.last('key-1'), kept.last('key-10')]).toEqual([undefined, 2, 11]);
  });
});
