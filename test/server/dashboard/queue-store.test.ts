import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import { keep } from '../../../src/server/dashboard/queue-store.ts';
import { anApi } from '../api/fake-order-screening.ts';
import { sendForm } from './support.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A value that counts its reads. A read ends when `answer` is called. */
function counted() {
  let reads = 0;
  const waiting: { answer: (value: number) => void; fail: (error: Error) => void }[] = [];
  const kept = keep((_key: string) => {
    reads += 1;
    return new Promise<number>((answer, fail) => waiting.push({ answer, fail }));
  });
  const answer = async () => {
    for (const one of waiting.splice(0)) one.answer(reads);
    await vi.advanceTimersByTimeAsync(0);
  };
  const fail = () => {
    for (const one of waiting.splice(0)) one.fail(new Error('away'));
  };
  const get = (key = '') => kept.get(key);
  return { kept, get, renew: () => kept.renew(''), answer, fail, reads: () => reads };
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

  it('is waited for when it is old or was forgotten, also after the clock was set back', async () => {
    const { kept, get, answer } = await readOnce();
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(30_000);
    const next = get();
    await answer();
    expect(await next).toBe(2);
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(1);
    kept.forget();
    const last = get();
    await answer();
    expect(await last).toBe(3);
  });

  it('stays when it can’t be read again: the failure is told to whoever waits', async () => {
    const { kept, get, renew, fail } = await readOnce();
    vi.advanceTimersByTime(10_000);
    renew();
    fail();
    expect(await get()).toBe(1);
    vi.advanceTimersByTime(20_000);
    const next = get();
    fail();
    await expect(next).rejects.toThrow('away');
    expect(kept.last('')).toBe(1);
  });

  it('is kept for each key', async () => {
    const { get, answer, reads } = counted();
    const all = Array.from({ length: 20 }, (_, key) => `key-${key}`);
    for (const round of [1, 2]) {
      const found = Promise.all(all.map(get));
      await answer();
      await found;
      vi.advanceTimersByTime(4_000);
      expect(reads(), `round ${round}`).toBe(20);
    }
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
