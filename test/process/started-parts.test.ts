import { expect, it } from 'vitest';
import { StartedParts } from '../../src/process/parts.ts';

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
  expect(stopped).toEqual(['API', 'worker', 'connection']);
  await parts.stop();
  expect(stopped).toHaveLength(3);
});
