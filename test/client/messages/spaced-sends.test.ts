import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SpacedSends } from '../../../src/client/messages/spaced-sends.ts';

/** Messages are numbers; the merge of two is the newer one. */
function aLimiter(most?: number) {
  const sent: { at: number; order: string; message: number }[] = [];
  const began = Date.now();
  let answer: () => Promise<boolean> = async () => true;
  const sendNow = (order: string, message: number) => {
    sent.push({ at: Date.now() - began, order, message });
    return answer();
  };
  const sends = new SpacedSends<number>(sendNow, (_one, other) => other, most);
  return {
    sends,
    sent,
    messages: () => sent.map(({ message }) => message),
    answers: (next: typeof answer) => {
      answer = next;
    },
    send: (message: number, order = 'order-1') => sends.send(order, message),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const unavailable = () => Promise.reject(new Error('unavailable'));
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the messages to one order', () => {
  it('are sent at once, then when a spacing ends, the newest only: few in a flood of 10,000 over an hour', async () => {
    const { send, sent, messages } = aLimiter();
    for (let message = 1; message <= 10_000; message += 1) {
      await send(message);
      await pass(360);
    }
    await pass(300_000);
    expect(messages().at(-1)).toBe(10_000);
    expect(sent.map(({ at }) => at).slice(0, 5)).toEqual([0, 2_000, 6_000, 14_000, 30_000]);
    const gaps = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));
    expect(Math.max(...gaps)).toBe(300_000);
    expect(sent.length).toBeLessThan(22);
  });

  it('have the first spacing again after a quiet one, and a longer one until then', async () => {
    const { send, sent } = aLimiter();
    await send(1);
    await send(2);
    // Sent at 2 s. The spacing of 4 s ends at 6 s, the same time after it at 10 s.
    await pass(7_000);
    await send(3);
    await send(4);
    // Sent at 7 s, and at the end of 8 s. 16 s and as long after it are quiet.
    await pass(40_000);
    await send(5);
    await send(6);
    await pass(2_000);
    expect(sent.map(({ at }) => at)).toEqual([0, 2_000, 7_000, 15_000, 47_000, 49_000]);
  });
});

describe('a send that fails', () => {
  it('is the error of every caller who waited for it, and starts no spacing', async () => {
    const { send, answers, messages } = aLimiter();
    answers(unavailable);
    const both = await Promise.allSettled([send(1), send(2)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    answers(async () => true);
    expect(await send(3)).toBe(true);
    expect(messages()).toEqual([1, 3]);
  });

  it('of a kept message is repeated after the next spacing, with what came since', async () => {
    const { send, answers, messages } = aLimiter();
    await send(1);
    await send(2);
    answers(unavailable);
    await pass(2_000);
    await pass(4_000);
    expect(messages()).toEqual([1, 2, 2]);
    expect(await send(3)).toBe(true);
    answers(async () => true);
    await pass(600_000);
    expect(messages()).toEqual([1, 2, 2, 3]);
  });

  it('since there is no such order is told, and nothing is kept for it', async () => {
    const { send, answers, sends, messages } = aLimiter();
    answers(async () => false);
    expect(await Promise.all([send(1), send(2)])).toEqual([false, false]);
    expect(await sends.close()).toBe(0);
    expect(messages()).toEqual([1]);
  });
});

describe('a stop', () => {
  it('sends what is kept at once, also behind a send that is under way', async () => {
    const { send, sends, answers, sent } = aLimiter();
    await send(1);
    await send(2);
    let end = (_exists: boolean) => {};
    answers(() => new Promise((resolve) => (end = resolve)));
    const slow = [send(3, 'slow'), send(4, 'slow')];
    answers(async () => true);
    const closed = sends.close();
    await pass(0);
    end(true);
    expect(await closed).toBe(0);
    await Promise.all(slow);
    expect(sent.map(({ order, message }) => `${order} ${message}`)).toEqual([
      'order-1 1',
      'slow 3',
      'order-1 2',
      'slow 4',
    ]);
    await pass(600_000);
    expect(sent).toHaveLength(4);
  });
});

it('remembers a bounded number of orders, and sends what it keeps for the oldest before it forgets it', async () => {
  const { send, messages } = aLimiter(2);
  await send(1, 'one');
  await send(2, 'one');
  await send(3, 'two');
  await send(4, 'three');
  await pass(0);
  expect(messages()).toEqual([1, 3, 4, 2]);
  expect(await send(5, 'one')).toBe(true);
  expect(messages().at(-1)).toBe(5);
});
