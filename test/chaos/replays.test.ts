import { describe, expect, it } from 'vitest';
import { Dice } from './random.ts';
import { drawnTasks } from './replays.ts';

describe('the workflow tasks that a history is cut at', () => {
  const dice = new Dice(1, 'cuts');
  const orders = Array.from({ length: 400 }, (_, index) => `order ${index}`);

  it('are all when there are few', () => {
    expect(drawnTasks(dice, 'order', 3, 5)).toEqual([1, 2, 3]);
  });

  it('are as many on average as were asked for, and the same for the same seed', () => {
    const drawn = orders.map((order) => drawnTasks(dice, order, 10, 1.5));
    expect(drawn.flat().length / orders.length).toBeCloseTo(1.5, 0);
    expect(new Set(drawn.flat()).size).toBe(10);
    expect(orders.map((order) => drawnTasks(new Dice(1, 'cuts'), order, 10, 1.5))).toEqual(drawn);
  });
});
