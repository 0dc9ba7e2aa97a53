import { Connection } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { loadConfig, loadTemporalSettings } from '../../src/config/index.ts';
import { least, scratchFile } from './support.ts';

describe('Temporal', () => {
  const settingsFile = scratchFile('temporal.toml');

  it.each(['temporal.example', 'temporal.example:7233', '192.0.2.1:1', '[::1]', '[::1]:7233'])(
    'has an address that the SDK accepts: %s',
    (address) => {
      const { connection } = loadTemporalSettings({ ...least, TEMPORAL_ADDRESS: address });
      expect(connection.address).toBe(address);
      expect(() => Connection.lazy(connection)).not.toThrow();
    },
  );

  it.each([
    ['127.0.0.1:7233', 0],
    ['[::1]', 0],
    ['localhost', 0],
    ['temporal.example:7233', undefined],
  ])('at %s is asked through a proxy only on another machine', (TEMPORAL_ADDRESS, proxy) => {
    const { connection } = loadTemporalSettings({ ...least, TEMPORAL_ADDRESS });
    expect(connection.channelArgs?.['grpc.enable_http_proxy']).toBe(proxy);
  });

  it('is the embedded server unless an address is set, and so is its UI', () => {
    const embedded = loadConfig({ ...least, TEMPORAL_PORT: '17233', TEMPORAL_UI_PORT: '9233' });
    expect(embedded.temporal.connection.address).toBe('127.0.0.1:17233');
    expect(embedded.temporalUiUrl).toBe('http://127.0.0.1:9233');
    expect(loadConfig({ ...least, TEMPORAL_ADDRESS: 'temporal.example' }).temporalUiUrl).toBeUndefined();
  });

  it('is described by the settings file of every Temporal tool', () => {
    const TEMPORAL_CONFIG_FILE = settingsFile(
      '[profile.default]\naddress = "cloud.example:7233"\nnamespace = "shop.a1"\napi_key = "k"\n',
    );
    expect(loadTemporalSettings({ TEMPORAL_CONFIG_FILE })).toMatchObject({
      embedded: false,
      connection: { address: 'cloud.example:7233', apiKey: 'k', tls: true },
      namespace: 'shop.a1',
    });
  });

  it('has errors that do not quote that file', () => {
    const TEMPORAL_CONFIG_FILE = settingsFile('[profile.default]\napi_key = do-not-print-me\n');
    const load = () => loadTemporalSettings({ TEMPORAL_CONFIG_FILE });
    expect(load).toThrow(/TEMPORAL_\*/);
    expect(load).not.toThrow('do-not-print-me');
  });
});
