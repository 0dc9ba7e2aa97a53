/** How processes and clients reach Temporal. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, expect, it } from 'vitest';
import { loadTemporalSettings } from '../../src/config/index.ts';
import { least } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'order-screening-temporal-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each(['temporal.example', 'temporal.example:7233', '192.0.2.1:1', '[::1]', '[::1]:7233'])(
  'take Temporal’s address as the SDK does: %s',
  (address) => {
    const { connection } = loadTemporalSettings({ ...least, TEMPORAL_ADDRESS: address });
    expect(connection.address).toBe(address);
    expect(() => Connection.lazy(connection)).not.toThrow();
  },
);

it('take the port of the embedded server where no address is set', () => {
  const { connection } = loadTemporalSettings({ ...least, TEMPORAL_PORT: '17233' });
  expect(connection.address).toBe('127.0.0.1:17233');
});

it('have a client look for a Temporal that was away every few seconds', () => {
  const { connection } = loadTemporalSettings(least);
  expect(connection.channelArgs).toEqual({ 'grpc.max_reconnect_backoff_ms': 5_000 });
});

it('are read from the settings file of every Temporal tool', () => {
  const file = join(folder, 'temporal.toml');
  writeFileSync(
    file,
    '[profile.default]\naddress = "cloud.example:7233"\nnamespace = "shop.a1"\napi_key = "k"\n',
  );
  expect(loadTemporalSettings({ TEMPORAL_CONFIG_FILE: file })).toMatchObject({
    embedded: false,
    connection: { address: 'cloud.example:7233', apiKey: 'k', tls: true },
    namespace: 'shop.a1',
  });
});

it('are refused without quoting the file', () => {
  const file = join(folder, 'broken.toml');
  writeFileSync(file, '[profile.default]\napi_key = do-not-print-me\n');
  const load = () => loadTemporalSettings({ TEMPORAL_CONFIG_FILE: file });
  expect(load).toThrow(/TEMPORAL_\*/);
  expect(load).not.toThrow('do-not-print-me');
});
