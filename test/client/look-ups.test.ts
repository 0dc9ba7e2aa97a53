import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LookUps } from '../../src/client/hint.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a look-up', () => {
  it('is shared by those that come meanwhile, and by those that come soon after', async () => {
    const ask = vi.fn(async () => 'order-1');
    const lookUps = new LookUps<string>();
    const both = [lookUps.find('a', ask), lookUps.find('a', ask)];
    expect(await Promise.all(both)).toEqual(['order-1', 'order-1']);
    expect(await lookUps.find('a', ask)).toBe('order-1');
    expect(ask).toHaveBeenCalledTimes(1);
    expect(await lookUps.find('b', async () => 'order-2')).toBe('order-2');
  });

  it('is made again later', async () => {
    const ask = vi.fn(async () => 'order-1');
    const lookUps = new LookUps<string>();
    await lookUps.find('a', ask);
    await vi.advanceTimersByTimeAsync(5_000);
    await lookUps.find('a', ask);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('that found nothing, or failed, is made again at once', async () => {
    const lookUps = new LookUps<string>();
    expect(await lookUps.find('a', async () => undefined)).toBeUndefined();
    await expect(lookUps.find('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await lookUps.find('a', async () => 'order-1')).toBe('order-1');
  });
});
