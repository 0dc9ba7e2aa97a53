import { expect, test } from 'vitest';
import { temporalOnPath } from '../../src/dev/embedded-temporal.ts';
import { environmentWith } from './fake-commands.ts';

test('a temporal that runs and has a server of today is taken', async () => {
  const env = await environmentWith({ temporal: 'echo "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"' });

  expect(await temporalOnPath(env)).toBe('temporal');
});

test('no temporal on PATH is said so', async () => {
  await expect(temporalOnPath(await environmentWith({}))).rejects.toThrow('not found');
});

test('a temporal that does not run is refused with its exit code', async () => {
  const env = await environmentWith({ temporal: 'exit 126' });

  await expect(temporalOnPath(env)).rejects.toThrow('ended with exit code 126');
});

test('a temporal whose server is older than Update-with-Start is refused with both versions', async () => {
  const env = await environmentWith({ temporal: 'echo "temporal version 1.1.0 (Server 1.25.0, UI 2.30.3)"' });

  await expect(temporalOnPath(env)).rejects.toThrow('its server 1.25.0 is too old; 1.28 or newer is needed');
});

test('a program of that name that is not the Temporal CLI is refused', async () => {
  const env = await environmentWith({ temporal: 'echo hello' });

  await expect(temporalOnPath(env)).rejects.toThrow('does not say which server it has');
});
