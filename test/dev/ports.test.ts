import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { assertPortFree, freePort } from '../../src/dev/guarded-child.ts';

test('a port that another program has is refused by number, with the variable that changes it', async () => {
  const port = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());

  await expect(assertPortFree(port, 'TEMPORAL_PORT')).rejects.toThrow(
    `Port ${port} is in use by another program. Stop it, or set TEMPORAL_PORT to another port.`,
  );
});

test('a free port is accepted, and is still free afterwards', async () => {
  const port = await freePort();

  await assertPortFree(port, 'TEMPORAL_PORT');

  await expect(assertPortFree(port, 'TEMPORAL_PORT')).resolves.toBeUndefined();
});
