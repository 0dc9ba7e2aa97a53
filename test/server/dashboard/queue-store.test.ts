import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import { Kept } from '../../../src/server/dashboard/queue-store.ts';
import { anApi } from '../api/fake-order-screening.ts';
import { sendForm } from './support.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A value that counts its reads. A read ends when `answer` is called. */
function counted() {
  const kept = new Kept<number>();
  let reads = 0;
  const waiting: (() => void)[] = [];
  const read = () => {
    reads += 1;
    const value = reads;
    return new Promise<number>((resolve) => waiting.push(() => resolve(value)));
  };
  const get = (key = '') => kept.get(key, read);
  const renew = () => kept.renew('', read);
  const answer = async () => {
    for (const end of waiting.splice(0)) end();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { kept, get, renew, answer, reads: () => reads };
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
    const { get, renew, answer, reads } = counted();
    const both = Promise.all([get(), get()]);
    await answer();
    expect(await both).toEqual([1, 1]);
    vi.advanceTimersByTime(4_999);
    renew();
    expect([await get(), reads()]).toEqual([1, 1]);
  });

  it('is read again only when it is renewed, shown meanwhile, and the next caller gets the new one', async () => {
    const { get, renew, answer, reads } = await readOnce();
    vi.advanceTimersByTime(5_000);
    expect([await get(), reads()]).toEqual([1, 1]);
    renew();
    renew();
    expect([await get(), reads()]).toEqual([1, 2]);
    await answer();
    expect(await get()).toBe(2);
  });

  it('is not read by a renewal before anybody asked, nor while it is too old', async () => {
    const { get, renew, answer, reads } = counted();
    renew();
    expect(reads()).toBe(0);
    void get();
    await answer();
    vi.advanceTimersByTime(30_000);
    renew();
    expect(reads()).toBe(1);
  });

  it('is waited for when it is 30 s old', async () => {
    const { get, answer } = await readOnce();
    vi.advanceTimersByTime(30_000);
    const next = get();
    await answer();
    expect(await next).toBe(2);
  });

  it('is waited for once it was forgotten, also by a read that began before', async () => {
    const { kept, get, renew, answer } = await readOnce();
    vi.advanceTimersByTime(5_000);
    renew();
    kept.forget();
    await answer();
    const next = get();
    await answer();
    expect(await next).toBe(3);
  });

  it('stays when it can’t be read again: the failure is told to whoever waits', async () => {
    const { kept, get } = await readOnce();
    const fails = () => Promise.reject(new Error('away'));
    vi.advanceTimersByTime(10_000);
    kept.renew('', fails);
    expect(await get()).toBe(1);
    vi.advanceTimersByTime(20_000);
    await expect(kept.get('', fails)).rejects.toThrow('away');
    expect(kept.last('')).toBe(1);
  });

  it('is kept for the last ten keys', async () => {
    const { kept, get, answer } = counted();
    for (let key = 0; key < 11; key += 1) void get(`key-${key}`);
    await answer();
    expect([kept.last('key-0'), kept.last('key-1'), kept.last('key-10')]).toEqual([undefined, 2, 11]);
  });
});

describe('the pages', () => {
  it('reads Temporal’s visibility once in 5 s for all open pages, and again after an action', async () => {
    const { app, orderScreening } = await anApi();
    for (const url of ['/', '/?list=soon', '/orders/order-1', '/?wall=1', '/news?seen=x'])
      await app.inject(url);
    expect(orderScreening.queue).toHaveBeenCalledTimes(1);
    expect(orderScreening.health).toHaveBeenCalledTimes(1);
    await sendForm(app, '/orders/order-1/recheck');
    await app.inject('/');
    expect(orderScreening.queue).toHaveBeenCalledTimes(2);
  });

  it('reads the queue again, when it is 5 s old, after what the page itself asks', async () => {
    const { app, orderScreening } = await anApi();
    await app.inject('/');
    for (const [times, url] of ['/news?seen=x', '/?list=every'].entries()) {
      vi.advanceTimersByTime(5_000);
      await app.inject(url);
      expect(orderScreening.queue).toHaveBeenCalledTimes(times + 2);
    }
    const orderOf = (asked: Mock) => asked.mock.invocationCallOrder.at(-1) ?? 0;
    expect(orderOf(orderScreening.rows)).toBeLessThan(orderOf(orderScreening.queue));
  });
});
