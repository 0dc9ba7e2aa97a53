import { randomInt } from 'node:crypto';
import { assertPortFree } from '../../src/dev/guarded-child.ts';

/**
 * Free ports below those that the system hands out to outgoing connections: they stay free while their process is down,
 * and no client that tries again and again can connect to itself.
 */
export async function quietPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count && tries < 200; tries += 1) {
    const port = randomInt(15_000, 32_000);
    const free = await assertPortFree(port, 'a port').then(
      () => true,
      () => false,
    );
    if (free) ports.add(port);
  }
  if (ports.size < count) throw new Error('no free ports were found');
  return [...ports];
}
