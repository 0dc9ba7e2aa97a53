import { expect, it } from 'vitest';
import { allEnded, StartedParts } from '../../src/platform/parts.ts';

it('all runs have ended when each has; one that breaks down stops the others, and is told when they have ended', async () => {
  const ended: string[] = [];
  await allEnded([Promise.resolve(), Promise.resolve()], () => void ended.push('stopped'));
  expect(ended).toEqual([]);
  let stop = (): void => undefined;
  const other = new Promise<void>((resolve) => {
    stop = resolve;
  }).then(() => void ended.push('the other'));
  const runs = allEnded([Promise.reject(new Error('no such namespace')), other], () => stop());
  await expect(runs).rejects.toThrow('no such namespace');
  expect(ended).toEqual(['the other']);
});

it('parts are stopped once, the last one first, also after one that could not be stopped', async () => {
  const parts = new StartedParts();
  const stopped: string[] = [];
  parts.add(async () => stopped.push('connection'));
  parts.add(async () => {
    stopped.push('worker');
    throw new Error('it hangs');
  });
  parts.add(async () => stopped.push('API'));
  await expect(parts.stop()).rejects.toThrow('it hangs');
  await parts.stop();
  expect(stopped).toEqual(['API', 'worker', 'connection']);
});
