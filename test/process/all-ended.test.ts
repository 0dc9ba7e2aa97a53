import { expect, it } from 'vitest';
import { allEnded } from '../../src/process/parts.ts';

it('all runs have ended when each has', async () => {
  let stops = 0;
  await allEnded([Promise.resolve(), Promise.resolve()], () => {
    stops += 1;
  });
  expect(stops).toBe(0);
});

it('a run that breaks down stops the others, and is told when they have ended', async () => {
  const ended: string[] = [];
  let stop = (): void => undefined;
  const other = new Promise<void>((resolve) => {
    stop = resolve;
  }).then(() => {
    ended.push('the other');
  });
  await expect(
    allEnded([Promise.reject(new Error('no such namespace')), other], () => stop()),
  ).rejects.toThrow('no such namespace');
  expect(ended).toEqual(['the other']);
});
